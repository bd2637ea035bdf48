#include "core/sweep/sweep_spec.h"

#include <algorithm>
#include <charconv>
#include <limits>
#include <numeric>
#include <set>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "core/base/error.h"
#include "core/base/text.h"
#include "core/compare/answer.h"
#include "core/filter/condition.h"
#include "core/run/spec_fields.h"
#include "core/sweep/detail/seeds.h"

namespace batchscope::sweep {

namespace {

using run::RunSpec;
using run::SpecField;

bool varies(const SweepSpec& spec, const std::string& field) {
  return std::any_of(spec.vary.begin(), spec.vary.end(),
                     [&](const Variation& variation) { return variation.field == field; });
}

/// Number of combinations without conditions and repeats; intervals count as one value.
std::int64_t grid_size(const SweepSpec& spec) {
  std::int64_t size = 1;
  for (const Variation& variation : spec.vary)
    if (!variation.interval && __builtin_mul_overflow(size, static_cast<std::int64_t>(variation.values.size()), &size))
      return std::numeric_limits<std::int64_t>::max();
  return size;
}

/// What a condition of a sweep may compare: the settings of its runs, and a program's own placeholders by `set.NAME` or
/// `NAME`, which hold numbers or texts.
class ConditionFields {
public:
  explicit ConditionFields(const SweepSpec& sweep) {
    using telemetry::ValueKind;
    std::set<std::string> own;
    for (const std::string& key : run::keys_of(sweep.base)) {
      if (run::placeholder_in(key)) {
        own.insert(key);
        continue;
      }
      const SpecField& field = run::spec_field(key);
      const ValueKind kind = field.kind == SpecField::Kind::bytes ? ValueKind::bytes
                             : is_numeric(field)                  ? ValueKind::number
                                                                  : ValueKind::text;
      settings_.push_back(
          {.name = key, .kind = kind, .is_text = kind == ValueKind::text, .short_name = {}, .choices = {}});
      keys_.push_back(key);
    }
    for (const Variation& variation : sweep.vary)
      if (run::placeholder_in(variation.field))
        own.insert(variation.field);
    keys_.insert(keys_.end(), own.begin(), own.end());
  }

  filter::Condition parse(const std::string& text) const {
    filter::MoreFields own;
    own.find = [this](const std::string& name) -> std::optional<std::size_t> {
      for (std::size_t i = settings_.size(); i < keys_.size(); ++i)
        if (name == keys_[i] || name == run::placeholder_in(keys_[i]))
          return i;
      return std::nullopt;
    };
    own.accepted = [this] {
      return fmt::format(", {}",
                         fmt::join(keys_.begin() + static_cast<std::ptrdiff_t>(settings_.size()), keys_.end(), ", "));
    };
    const bool has_own = keys_.size() > settings_.size();
    return filter::parse_condition(text, settings_, "--only", has_own ? own : filter::MoreFields{});
  }
  const std::string& key(std::size_t field) const { return keys_[field]; }

private:
  std::vector<filter::Field> settings_;
  std::vector<std::string> keys_; ///< those of settings_, then the program's own
};

/// The settings of a run as conditions see them: an unset field has the value that follows from the others.
class SpecValues final : public filter::Values {
public:
  SpecValues(const ConditionFields& fields, const RunSpec& spec) : fields_(fields), spec_(spec) {}

  std::optional<double> number(std::size_t field) const override {
    const std::string& key = fields_.key(field);
    if (run::spec_field(key).kind == SpecField::Kind::bytes)
      return spec_.memory_budget ? std::optional(static_cast<double>(*spec_.memory_budget)) : std::nullopt;
    const std::string shown = run::field_shown(spec_, key);
    double value = 0;
    const auto [end, error] = std::from_chars(shown.data(), shown.data() + shown.size(), value);
    return error == std::errc() && end == shown.data() + shown.size() ? std::optional(value) : std::nullopt;
  }
  std::optional<std::string> text(std::size_t field) const override {
    return run::field_text(spec_, fields_.key(field));
  }

private:
  const ConditionFields& fields_;
  const RunSpec& spec_;
};

/// `batch 16, lr 0.1, seed 2`: only what the sweep varies, after the base's name.
std::string name_of(const SweepSpec& sweep, const RunSpec& run) {
  std::vector<std::string> parts;
  for (const Variation& variation : sweep.vary) {
    std::string field = run::placeholder_in(variation.field).value_or(variation.field);
    std::replace(field.begin(), field.end(), '_', ' ');
    parts.push_back(field + ' ' + run::field_text(run, variation.field));
  }
  if (sweep.repeats > 1 && !varies(sweep, "seed"))
    parts.push_back(fmt::format("seed {}", run.seed));
  const char* separator = sweep.base.name.empty() || parts.empty() ? "" : ": ";
  return sweep.base.name + separator + fmt::format("{}", fmt::join(parts, ", "));
}

/// The combination of this number in the order of the grid; drawn numbers are not set.
RunSpec of_grid(const SweepSpec& sweep, std::int64_t number) {
  std::vector<std::size_t> chosen(sweep.vary.size());
  for (std::size_t i = sweep.vary.size(); i-- > 0;) {
    const Variation& variation = sweep.vary[i];
    const auto count = variation.interval ? 1 : static_cast<std::int64_t>(variation.values.size());
    chosen[i] = static_cast<std::size_t>(number % count);
    number /= count;
  }
  RunSpec run = sweep.base;
  for (std::size_t i = 0; i < chosen.size(); ++i)
    if (!sweep.vary[i].interval)
      run::set_field(run, sweep.vary[i].field, sweep.vary[i].values[chosen[i]]);
  return run;
}

bool draws(const SweepSpec& sweep) {
  return std::any_of(sweep.vary.begin(), sweep.vary.end(), [](const Variation& v) { return v.interval.has_value(); });
}

void refuse_many(std::int64_t runs, std::int64_t most) {
  throw input_error(fmt::format("a sweep of {} runs; accepted: at most {}", runs, most));
}

using Meets = std::function<bool(const RunSpec&)>;

/// `count` different combinations; fewer if the grid and the condition have no more.
std::vector<RunSpec> drawn(const SweepSpec& sweep, std::int64_t count, const Meets& meets) {
  std::mt19937_64 random(sweep.random_seed);
  std::vector<RunSpec> chosen;
  const std::int64_t grid = grid_size(sweep);
  if (draws(sweep)) {
    // A condition that nearly nothing meets ends the attempts, not the program.
    const std::int64_t attempts = std::min(SweepSpec::max_grid, 1000 + 100 * count);
    std::set<std::string> seen;
    for (std::int64_t i = 0; i < attempts && static_cast<std::int64_t>(chosen.size()) < count; ++i) {
      RunSpec run = of_grid(sweep, static_cast<std::int64_t>(random() % static_cast<std::uint64_t>(grid)));
      for (const Variation& variation : sweep.vary)
        if (variation.interval)
          run::set_field(run, variation.field, draw(variation, random));
      if (meets(run) && seen.insert(run::to_json(run, -1)).second)
        chosen.push_back(std::move(run));
    }
    return chosen;
  }
  std::vector<std::int64_t> numbers;
  for (std::int64_t number = 0; number < grid; ++number)
    if (sweep.only.empty() || meets(of_grid(sweep, number)))
      numbers.push_back(number);
  // The first `count` of a random order; not std::shuffle, which differs between standard libraries.
  const std::size_t take = std::min(numbers.size(), static_cast<std::size_t>(count));
  for (std::size_t i = 0; i < take; ++i)
    std::swap(numbers[i], numbers[i + random() % (numbers.size() - i)]);
  numbers.resize(take);
  std::sort(numbers.begin(), numbers.end());
  for (const std::int64_t number : numbers)
    chosen.push_back(of_grid(sweep, number));
  return chosen;
}

std::vector<RunSpec> without_repeats(const SweepSpec& sweep) {
  const std::int64_t grid = grid_size(sweep);
  if (grid > SweepSpec::max_grid)
    refuse_many(grid, SweepSpec::max_grid);
  const ConditionFields fields(sweep);
  const auto condition = fields.parse(sweep.only);
  const Meets meets = [&](const RunSpec& run) { return condition(SpecValues(fields, run)); };
  if (sweep.random)
    return drawn(sweep, *sweep.random, meets);
  std::vector<RunSpec> runs;
  for (std::int64_t number = 0; number < grid; ++number) {
    RunSpec run = of_grid(sweep, number);
    if (!sweep.only.empty() && !meets(run))
      continue;
    runs.push_back(std::move(run));
    if (static_cast<std::int64_t>(runs.size()) > SweepSpec::max_runs)
      refuse_many(grid, SweepSpec::max_runs);
  }
  return runs;
}

void check_repeats(const SweepSpec& spec) {
  if ((spec.repeats > 1 || varies(spec, "seed")) && !detail::takes_seed(spec.base))
    throw input_error(fmt::format("{}: the command has no {{seed}}, so runs with different seeds would be the same "
                                  "training; accepted: {{seed}} in the command, such as --seed {{seed}}",
                                  spec.repeats > 1 ? "--repeats" : "--vary seed"));
}

void check_values(const SweepSpec& spec, const Variation& variation) {
  const SpecField& field = run::spec_field(variation.field);
  if (spec.repeats > 1 && variation.field == "seed")
    throw input_error("--repeats: a sweep over seed cannot repeat with other seeds; accepted: one of the two");
  if (spec.base.program && !field.for_programs)
    throw input_error(fmt::format("{}: the program decides this itself; accepted: --set {}={} with {{{}}} in the "
                                  "command, which stands for each of the values in turn",
                                  field.option, field.key,
                                  variation.values.empty() ? std::string("V,V,...")
                                                           : fmt::format("{}", fmt::join(variation.values, ",")),
                                  field.key));
  if (variation.interval && !spec.random)
    throw input_error(fmt::format("{}: a range without steps needs --random; accepted: values, or a range with steps "
                                  "such as 16..256 x2",
                                  field.option));
  if (variation.values.empty() && !variation.interval)
    throw input_error(field.option + ": an empty list is not accepted; accepted: at least one value");
  std::set<std::string> seen;
  for (const std::string& value : variation.values)
    if (!seen.insert(value).second)
      throw input_error(fmt::format("{}: the value {} is in the list twice; accepted: each value once, with --repeats "
                                    "for several runs",
                                    field.option, in_quotes(value)));
}

/// Problem of the field itself; empty if there is none.
std::string problem_of(const RunSpec& run, const std::string& field) {
  for (const auto& [key, message] : run::check_fields(run))
    if (key == field)
      return message;
  return {};
}

/// Refuses what is wrong with fields that do not vary.
void check_shared(const SweepSpec& spec, const RunSpec& run) {
  for (const auto& [key, message] : run::check_fields(run))
    if (!varies(spec, key))
      throw input_error(message, key == "program" ? "program" : run::spec_field(key).key.c_str());
}

/// Refuses a value that is wrong whatever values the other fields take that vary.
void check_value(const SweepSpec& spec, const RunSpec& shared, const Variation& variation, const std::string& value) {
  RunSpec run = shared;
  run::set_field(run, variation.field, value);
  check_shared(spec, run);
  const std::string problem = problem_of(run, variation.field);
  if (problem.empty())
    return;
  for (const Variation& other : spec.vary)
    for (const std::string& with : other.values) {
      if (other.field == variation.field)
        continue;
      RunSpec mended = run;
      run::set_field(mended, other.field, with);
      if (problem_of(mended, variation.field).empty())
        return;
    }
  throw input_error(problem, run::spec_field(variation.field).key.c_str());
}

} // namespace

void set_variation(SweepSpec& spec, Variation variation) {
  const auto found = std::find_if(spec.vary.begin(), spec.vary.end(),
                                  [&](const Variation& other) { return other.field == variation.field; });
  if (found == spec.vary.end())
    spec.vary.push_back(std::move(variation));
  else
    *found = std::move(variation);
}

void check(const SweepSpec& spec) {
  if (spec.repeats < 1)
    throw input_error(fmt::format("--repeats: {} is not accepted; accepted: a whole number, at least 1", spec.repeats));
  if (spec.random && *spec.random < 1)
    throw input_error(fmt::format("--random: {} is not accepted; accepted: a whole number, at least 1", *spec.random));
  if (spec.base.program && spec.stop_weak != StopWeak::never)
    throw input_error("--stop-weak: median is not accepted for a program, whose length is not known before it runs; "
                      "accepted: never");
  for (const Variation& variation : spec.vary)
    check_values(spec, variation);
  check_repeats(spec);
  if (!spec.goal.empty())
    compare::parse_goal(spec.goal, "--goal");
  if (!spec.base.save.empty() || varies(spec, "save"))
    throw input_error("--save: not accepted for a sweep, whose runs would overwrite each other's file; accepted: for "
                      "train",
                      "save");
  RunSpec shared = spec.base;
  if (varies(spec, "batch"))
    shared.batch = {};
  check_shared(spec, shared);
  for (const Variation& variation : spec.vary)
    for (const std::string& value : variation.values)
      if (variation.field != "batch") // whether it fits max_batch and the schedule is a matter of the combination
        check_value(spec, shared, variation, value);
  std::int64_t runs = 0;
  const std::int64_t different = spec.random ? *spec.random : spec.only.empty() ? grid_size(spec) : 1;
  if (__builtin_mul_overflow(different, spec.repeats, &runs))
    runs = std::numeric_limits<std::int64_t>::max();
  if (runs > SweepSpec::max_runs)
    refuse_many(runs, SweepSpec::max_runs);
  shared.seed += static_cast<std::uint64_t>(spec.repeats - 1);
  check_shared(spec, shared);
  if (combinations(spec).empty())
    throw input_error(
        fmt::format("--only: no combination meets {}; accepted: a condition that some meet", in_quotes(spec.only)));
}

std::vector<RunSpec> combinations(const SweepSpec& spec) {
  std::vector<RunSpec> runs;
  for (const RunSpec& one : without_repeats(spec)) {
    for (std::int64_t repeat = 0; repeat < spec.repeats; ++repeat) {
      RunSpec run = one;
      run.seed += static_cast<std::uint64_t>(repeat);
      if (run.program && (spec.repeats > 1 || varies(spec, "seed")))
        run.program->seeded = true;
      run.name = name_of(spec, run);
      runs.push_back(std::move(run));
    }
    if (static_cast<std::int64_t>(runs.size()) > SweepSpec::max_runs)
      refuse_many(static_cast<std::int64_t>(runs.size()), SweepSpec::max_runs);
  }
  return runs;
}

} // namespace batchscope::sweep
