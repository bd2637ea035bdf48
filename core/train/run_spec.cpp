#include "core/train/run_spec.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <initializer_list>
#include <limits>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "core/base/error.h"
#include "core/base/text.h"
#include "core/schedule/learning_rate.h"

namespace batchscope::train {

namespace {

constexpr std::uint64_t smallest_budget = 1'000'000;
constexpr std::int64_t unbounded = std::numeric_limits<std::int64_t>::max();

template <typename Value> Error refused(const char* option, const Value& given, std::string_view accepted) {
  return input_error(fmt::format("{}: {} is not accepted; accepted: {}", option, given, accepted));
}

void check_one_of(const char* option, const std::string& given, std::initializer_list<const char*> accepted) {
  if (std::find(accepted.begin(), accepted.end(), given) == accepted.end())
    throw refused(option, fmt::format("\"{}\"", given), fmt::format("{}", fmt::join(accepted, ", ")));
}

void check_at_least_one(const char* option, std::optional<std::int64_t> given) {
  if (given && *given < 1)
    throw refused(option, *given, "a whole number, at least 1");
}

/// lowest <= value < limit; NaN is refused too.
void check_share(const char* option, double given) {
  if (!(given >= 0 && given < 1))
    throw refused(option, given, "a number from 0 up to, but not including, 1");
}

void check_positive(const char* option, std::optional<double> given) {
  if (given && !(std::isfinite(*given) && *given > 0))
    throw refused(option, *given, "a finite number above 0");
}

void check_device(const RunSpec& spec) {
  const std::string& device = spec.device;
  int index = 0;
  const char* end = device.data() + device.size();
  const bool cuda = device.starts_with("cuda:") && device.size() > 5;
  const auto parsed = cuda ? std::from_chars(device.data() + 5, end, index) : std::from_chars_result{end, {}};
  if (device != "cpu" && !(cuda && parsed.ec == std::errc() && parsed.ptr == end && index >= 0))
    throw refused("--device", fmt::format("\"{}\"", device), "cpu, or cuda:N with the number of the GPU");
  if (spec.memory_budget && *spec.memory_budget < smallest_budget)
    throw refused("--memory-budget", fmt::format("{} bytes", *spec.memory_budget), "at least 1MB");
}

void check_sizes(const RunSpec& spec) {
  if (spec.batch.kind == BatchChoice::Kind::number)
    check_at_least_one("--batch", spec.batch.number);
  check_at_least_one("--accumulate", spec.accumulate);
  check_at_least_one("--effective-batch", spec.effective_batch);
  check_at_least_one("--max-batch", spec.max_batch);
  check_at_least_one("--lr-reference-batch", spec.lr_reference_batch);
  if (spec.effective_batch && spec.accumulate != 1)
    throw input_error(fmt::format("--effective-batch {} and --accumulate {} are both given; accepted: one of them",
                                  *spec.effective_batch, spec.accumulate));
  const auto& [epochs, examples, steps] = spec.length;
  check_at_least_one("--epochs", epochs);
  check_at_least_one("--examples", examples);
  check_at_least_one("--steps", steps);
  if (int(epochs.has_value()) + int(examples.has_value()) + int(steps.has_value()) != 1)
    throw input_error("the length of the run: accepted: one of --epochs, --examples and --steps");
  if (spec.seed > static_cast<std::uint64_t>(unbounded))
    throw refused("--seed", spec.seed, fmt::format("a whole number from 0 to {}", unbounded));
}

void check_optimizer(const RunSpec& spec) {
  check_one_of("--optimizer", spec.optimizer, {"sgd", "adam", "adamw"});
  check_positive("--lr", spec.learning_rate);
  if (spec.momentum && spec.optimizer != "sgd")
    throw input_error(fmt::format("--momentum: {} has none; accepted: with --optimizer sgd", spec.optimizer));
  if (spec.momentum)
    check_share("--momentum", *spec.momentum);
  if (spec.weight_decay && !(std::isfinite(*spec.weight_decay) && *spec.weight_decay >= 0))
    throw refused("--weight-decay", *spec.weight_decay, "a finite number, at least 0");
  check_share("--dropout", spec.dropout);
  check_share("--label-smoothing", spec.label_smoothing);
  check_positive("--clip", spec.clip);
  check_share("--margin", spec.margin);
  check_one_of("--lr-rule", spec.lr_rule, {"none", "linear", "sqrt"});
  check_one_of("--lr-decay", spec.lr_decay, {"constant", "cosine", "linear", "step"});
  check_one_of("--regularization-rule", spec.regularization_rule, {"none", "sqrt"});
  check_one_of("--task", spec.task, {"scratch", "fine-tuning"});
  if (spec.warmup != "auto") {
    std::int64_t steps = -1;
    const char* end = spec.warmup.data() + spec.warmup.size();
    const auto parsed = std::from_chars(spec.warmup.data(), end, steps);
    if (parsed.ec != std::errc() || parsed.ptr != end || steps < 0)
      throw refused("--warmup", fmt::format("\"{}\"", spec.warmup), "a number of steps, at least 0, or auto");
  }
}

/// The batch that a schedule is checked with where a search is still to find the real one.
std::int64_t stand_in_batch(const RunSpec& spec) {
  if (spec.batch.kind == BatchChoice::Kind::number)
    return spec.batch.number;
  // A piecewise schedule names its first batch; any other may begin anywhere.
  std::int64_t first = 1;
  constexpr std::string_view beginning = "piecewise:0=";
  if (spec.schedule.starts_with(beginning))
    std::from_chars(spec.schedule.data() + beginning.size(), spec.schedule.data() + spec.schedule.size(), first);
  return std::max<std::int64_t>(first, 1);
}

} // namespace

void check(const RunSpec& spec) {
  parse_named(spec.model, "--model");
  if (spec.data.empty())
    throw refused("--data", "\"\"",
                  "demo, idx:IMAGES,LABELS, text:FILE, lines:FILE, csv:FILE,target=COLUMN or "
                  "synthetic:...");
  check_device(spec);
  check_sizes(spec);
  check_optimizer(spec);
  schedule::ScheduleOrigin origin;
  origin.batch = stand_in_batch(spec);
  origin.max_batch = std::max(spec.max_batch.value_or(unbounded), origin.batch);
  schedule::make_schedule(spec.schedule, origin);
}

BatchChoice parse_batch(std::string_view text, std::string_view field) {
  if (text == "auto" || text == "auto:safe")
    return {};
  if (text == "auto:largest")
    return {BatchChoice::Kind::largest, 0};
  if (text == "auto:recommended")
    return {BatchChoice::Kind::recommended, 0};
  std::int64_t number = 0;
  const auto parsed = std::from_chars(text.data(), text.data() + text.size(), number);
  if (parsed.ec != std::errc() || parsed.ptr != text.data() + text.size() || number < 1)
    throw input_error(fmt::format("{}: \"{}\" is not accepted; accepted: a whole number, at least 1, auto, auto:safe, "
                                  "auto:largest or auto:recommended",
                                  field, text));
  return {BatchChoice::Kind::number, number};
}

std::string to_string(const BatchChoice& choice) {
  switch (choice.kind) {
  case BatchChoice::Kind::number:
    return std::to_string(choice.number);
  case BatchChoice::Kind::largest:
    return "auto:largest";
  case BatchChoice::Kind::recommended:
    return "auto:recommended";
  case BatchChoice::Kind::safe:
    break;
  }
  return "auto:safe";
}

OnOom parse_on_oom(std::string_view text, std::string_view field) {
  if (text != "shrink" && text != "fail")
    throw input_error(fmt::format("{}: \"{}\" is not accepted; accepted: shrink, fail", field, text));
  return text == "shrink" ? OnOom::shrink : OnOom::fail;
}

std::string to_string(OnOom choice) {
  return choice == OnOom::shrink ? "shrink" : "fail";
}

} // namespace batchscope::train
