#include "core/program/run/text_metrics.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <set>
#include <string_view>

#define PCRE2_CODE_UNIT_WIDTH 8
#include <pcre2.h>

#include <fmt/format.h>

#include "core/base/error.h"
#include "core/base/text.h"
#include "core/telemetry/series_info.h"

namespace batchscope::program {

namespace {

struct FreeCode {
  void operator()(pcre2_code* code) const { pcre2_code_free(code); }
};
struct FreeMatch {
  void operator()(pcre2_match_data* match) const { pcre2_match_data_free(match); }
};
struct FreeContext {
  void operator()(pcre2_match_context* context) const { pcre2_match_context_free(context); }
};

std::string regex_message(int error) {
  std::array<PCRE2_UCHAR, 256> text{};
  pcre2_get_error_message(error, text.data(), text.size());
  return reinterpret_cast<const char*>(text.data());
}

/// The groups of a pattern that have a name, with their numbers.
std::vector<std::pair<std::string, std::size_t>> named_groups(const pcre2_code* code) {
  std::uint32_t count = 0;
  std::uint32_t entry_size = 0;
  PCRE2_SPTR table = nullptr;
  pcre2_pattern_info(code, PCRE2_INFO_NAMECOUNT, &count);
  pcre2_pattern_info(code, PCRE2_INFO_NAMEENTRYSIZE, &entry_size);
  pcre2_pattern_info(code, PCRE2_INFO_NAMETABLE, &table);
  std::vector<std::pair<std::string, std::size_t>> groups;
  for (std::uint32_t i = 0; i < count; ++i, table += entry_size) // number in two bytes, then the name
    groups.emplace_back(reinterpret_cast<const char*>(table + 2), static_cast<std::size_t>(table[0]) << 8 | table[1]);
  return groups;
}

/// The number at the start of a text, after blanks and a plus; `nan` and `inf` are numbers.
std::optional<double> number_at(std::string_view text) {
  text = trimmed(text);
  if (text.starts_with('+'))
    text.remove_prefix(1);
  double value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  return error == std::errc() ? std::optional(value) : std::nullopt;
}

} // namespace

/// A series with its compiled pattern.
struct TextMetrics::Series {
  std::string given, name; ///< as the user has named it, and as it is recorded
  std::unique_ptr<pcre2_code, FreeCode> code;
  std::unique_ptr<pcre2_match_data, FreeMatch> match;
  std::unique_ptr<pcre2_match_context, FreeContext> context;
  std::size_t value_group = 0;
  std::optional<std::size_t> step_group;
  bool matched = false;
  std::optional<std::int64_t> first; ///< step that was named
  std::int64_t highest = 0;          ///< step that was named since the count began anew
  std::int64_t before = 0;           ///< steps before it did

  explicit Series(const run::Metric& metric);
  /// The text of a group of the last match; nothing if it took no part in it.
  std::optional<std::string_view> group(const std::string& line, std::size_t number) const;
  bool search(const std::string& line);
  std::int64_t own_step(std::int64_t named);
};

TextMetrics::Series::Series(const run::Metric& metric)
    : given(metric.name), name(telemetry::usual_series_name(metric.name)) {
  int error = 0;
  PCRE2_SIZE where = 0;
  code.reset(pcre2_compile(reinterpret_cast<PCRE2_SPTR>(metric.pattern.data()), metric.pattern.size(),
                           PCRE2_UTF | PCRE2_MATCH_INVALID_UTF, &error, &where, nullptr));
  if (!code)
    throw input_error(fmt::format("--metric {}: {} is no regular expression: {} at character {}", shortened(given),
                                  in_quotes(metric.pattern), regex_message(error), where + 1),
                      "program");
  pcre2_jit_compile(code.get(), PCRE2_JIT_COMPLETE); // without it, matching is only slower
  match.reset(pcre2_match_data_create_from_pattern(code.get(), nullptr));
  context.reset(pcre2_match_context_create(nullptr));
  constexpr std::uint32_t most_attempts = 100'000; // a pattern that backtracks without end must not stand still
  pcre2_set_match_limit(context.get(), most_attempts);

  const auto named = named_groups(code.get());
  std::uint32_t groups = 0;
  pcre2_pattern_info(code.get(), PCRE2_INFO_CAPTURECOUNT, &groups);
  for (std::size_t number = groups; number >= 1; --number)
    if (std::none_of(named.begin(), named.end(), [&](const auto& group) { return group.second == number; }))
      value_group = number;
  for (const auto& [group_name, number] : named) {
    if (group_name == "step")
      step_group = number;
    if (group_name == "value")
      value_group = number;
  }
  if (value_group == 0)
    throw input_error(fmt::format("--metric {}: {} has no group for the value; accepted: a group without a name, as in "
                                  "'loss: ([0-9.]+)', or one that is named value; one named step is the step",
                                  shortened(given), in_quotes(metric.pattern)),
                      "program");
}

bool TextMetrics::Series::search(const std::string& line) {
  return pcre2_match(code.get(), reinterpret_cast<PCRE2_SPTR>(line.data()), line.size(), 0, 0, match.get(),
                     context.get()) > 0;
}

std::optional<std::string_view> TextMetrics::Series::group(const std::string& line, std::size_t number) const {
  const PCRE2_SIZE* ends = pcre2_get_ovector_pointer(match.get());
  const PCRE2_SIZE begin = ends[2 * number];
  if (begin == PCRE2_UNSET)
    return std::nullopt;
  return std::string_view(line).substr(begin, ends[2 * number + 1] - begin);
}

TextMetrics::TextMetrics(const std::vector<run::Metric>& metrics) {
  std::set<std::string> names;
  for (const run::Metric& metric : metrics) {
    if (!names.insert(telemetry::usual_series_name(metric.name)).second)
      throw input_error(fmt::format("--metric {}: given twice; accepted: each name once", shortened(metric.name)),
                        "program");
    series_.emplace_back(metric);
    names_steps_ = names_steps_ || series_.back().step_group.has_value();
  }
  values_.resize(series_.size());
}

TextMetrics::~TextMetrics() = default;
TextMetrics::TextMetrics(TextMetrics&&) noexcept = default;

bool TextMetrics::empty() const {
  return series_.empty();
}

/// A value that stands in a line.
struct TextMetrics::Found {
  std::size_t series = 0;
  double value = 0;
  std::optional<std::int64_t> named; ///< the step as the program counts
};

/// Values of series that name their step come first.
std::vector<TextMetrics::Found> TextMetrics::found_in(const std::string& line) {
  std::vector<Found> found;
  for (std::size_t i = 0; i < series_.size(); ++i) {
    Series& series = series_[i];
    if (!series.search(line))
      continue;
    series.matched = true;
    const auto text = series.group(line, series.value_group);
    const auto value = text ? number_at(*text) : std::nullopt;
    if (!value)
      continue;
    Found& each = found.emplace_back(Found{.series = i, .value = *value, .named = std::nullopt});
    if (!series.step_group)
      continue;
    const auto step_text = series.group(line, *series.step_group);
    const auto number = step_text ? number_at(*step_text) : std::nullopt;
    constexpr double most = 1e15; // whole numbers as doubles
    if (number && *number >= 0 && *number <= most)
      each.named = static_cast<std::int64_t>(*number);
    else
      found.pop_back();
  }
  std::stable_partition(found.begin(), found.end(), [](const Found& each) { return each.named.has_value(); });
  return found;
}

/// The step of the run that the program names so; 0 for none.
std::int64_t TextMetrics::Series::own_step(std::int64_t named) {
  constexpr std::int64_t of_a_new_count = 10; ///< it falls to this fraction
  if (!first)
    first = named;
  const std::int64_t shift = *first == 0 ? 1 : 0;
  if (named < highest && named * of_a_new_count <= highest) {
    before += highest + shift;
    highest = 0;
  }
  highest = std::max(highest, named);
  return before + named + shift;
}

std::optional<telemetry::StepRecord> TextMetrics::take(const std::string& line) {
  std::optional<telemetry::StepRecord> completed;
  for (const Found& found : found_in(line))
    put(found, completed);
  if (complete() && (step_ > 0 || !names_steps_))
    completed = close();
  return completed;
}

bool TextMetrics::is_open() const {
  return std::any_of(values_.begin(), values_.end(), [](const auto& known) { return known.has_value(); });
}

void TextMetrics::put(const Found& found, std::optional<telemetry::StepRecord>& completed) {
  if (found.named) {
    put_named(found, series_[found.series].own_step(*found.named), completed);
    return;
  }
  if (!names_steps_) {
    if (is_open() && values_[found.series])
      completed = close();
    if (!is_open())
      ++step_;
  }
  values_[found.series] = found.value;
}

void TextMetrics::put_named(const Found& found, std::int64_t step, std::optional<telemetry::StepRecord>& completed) {
  if (step < std::max<std::int64_t>(step_, 1) || (step == step_ && !is_open()))
    return;
  if (step > step_ && step_ > 0 && is_open())
    completed = close();
  step_ = step;
  values_[found.series] = found.value;
}

bool TextMetrics::complete() const {
  return !values_.empty() && std::all_of(values_.begin(), values_.end(), [](const auto& value) { return value; });
}

telemetry::StepRecord TextMetrics::close() {
  telemetry::StepRecord record = telemetry::unknown_record(step_);
  const auto& known = telemetry::step_series();
  for (std::size_t i = 0; i < series_.size(); ++i) {
    if (!values_[i])
      continue;
    // A percentage is no fraction.
    const bool as_given = series_[i].name == "validation_accuracy" && *values_[i] > 1;
    const std::string& name = as_given ? series_[i].given : series_[i].name;
    const auto found = std::find(known.begin(), known.end(), name);
    if (found == known.end())
      record.more.emplace_back(name, *values_[i]);
    else
      telemetry::set(record, static_cast<std::size_t>(found - known.begin()), *values_[i]);
    values_[i].reset();
  }
  return record;
}

std::optional<telemetry::StepRecord> TextMetrics::finish() {
  if (step_ == 0 && is_open())
    step_ = 1;
  return is_open() ? std::optional(close()) : std::nullopt;
}

std::vector<std::string> TextMetrics::unmatched() const {
  std::vector<std::string> names;
  for (const Series& series : series_)
    if (!series.matched)
      names.push_back(series.given);
  return names;
}

} // namespace batchscope::program
