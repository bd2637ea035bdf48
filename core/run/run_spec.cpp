#include "core/run/run_spec.h"

#include <charconv>
#include <utility>

#include <fmt/format.h>

#include "core/base/error.h"
#include "core/base/text.h"

namespace batchscope::run {

double learning_rate_or_default(const RunSpec& spec) {
  return spec.learning_rate.value_or(spec.optimizer == "sgd" ? 0.1 : 0.001);
}

double momentum_or_default(const RunSpec& spec) {
  return spec.momentum.value_or(0.9);
}

double weight_decay_or_default(const RunSpec& spec) {
  return spec.weight_decay.value_or(spec.optimizer == "adamw" ? 0.01 : 0.0);
}

bool reaches(double target, double loss, const std::optional<double>& accuracy) {
  return accuracy ? *accuracy >= target : loss <= target;
}

bool keeps_checkpoints(const RunSpec& spec) {
  return spec.checkpoint_every || spec.checkpoint_minutes;
}

namespace {

constexpr std::pair<const char*, BatchChoice::Kind> searched_batches[] = {
    {"auto", BatchChoice::Kind::automatic},
    {"auto:recommended", BatchChoice::Kind::recommended},
    {"auto:safe", BatchChoice::Kind::safe},
    {"auto:largest", BatchChoice::Kind::largest},
};

/// The number of `50%`, above 0 and at most 100; nothing for any other text.
std::optional<double> percent_in(std::string_view text) {
  if (!text.ends_with('%'))
    return std::nullopt;
  text.remove_suffix(1);
  double percent = 0;
  const auto parsed = std::from_chars(text.data(), text.data() + text.size(), percent);
  const bool whole = parsed.ec == std::errc() && parsed.ptr == text.data() + text.size();
  return whole && percent > 0 && percent <= 100 ? std::optional(percent) : std::nullopt;
}

} // namespace

BatchChoice parse_batch(std::string_view text, std::string_view field) {
  for (const auto& [name, kind] : searched_batches)
    if (text == name)
      return {.kind = kind};
  constexpr std::string_view of_largest = " of largest";
  const std::string_view share = text.ends_with(of_largest) ? text.substr(0, text.size() - of_largest.size()) : text;
  if (const auto percent = percent_in(share))
    return {.kind = BatchChoice::Kind::share, .percent = *percent};
  std::int64_t number = 0;
  const auto parsed = std::from_chars(text.data(), text.data() + text.size(), number);
  if (parsed.ec != std::errc() || parsed.ptr != text.data() + text.size() || number < 1)
    throw input_error(fmt::format("{}: {} is not accepted; accepted: a whole number, at least 1, auto, "
                                  "auto:recommended, auto:safe, auto:largest, or a share of the largest size such as "
                                  "50%",
                                  field, in_quotes(text)));
  return {.kind = BatchChoice::Kind::number, .number = number};
}

std::string to_string(const BatchChoice& choice) {
  for (const auto& [name, kind] : searched_batches)
    if (choice.kind == kind)
      return name;
  if (choice.kind == BatchChoice::Kind::share)
    return fmt::format("{}%", choice.percent);
  return std::to_string(choice.number);
}

EvaluationInterval parse_evaluation_interval(std::string_view text, std::string_view field) {
  if (const auto percent = percent_in(text))
    return {.percent = *percent};
  std::int64_t steps = 0;
  const auto parsed = std::from_chars(text.data(), text.data() + text.size(), steps);
  if (parsed.ec != std::errc() || parsed.ptr != text.data() + text.size() || steps < 1)
    throw input_error(fmt::format("{}: {} is not accepted; accepted: a number of steps, at least 1, or a share of an "
                                  "epoch such as 10%",
                                  field, in_quotes(text)));
  return {.steps = steps};
}

std::string to_string(const EvaluationInterval& interval) {
  return interval.steps > 0 ? std::to_string(interval.steps) : fmt::format("{}%", interval.percent);
}

std::optional<std::int64_t> parse_warmup(std::string_view text, std::string_view field) {
  if (text == "auto")
    return std::nullopt;
  std::int64_t steps = -1;
  const auto parsed = std::from_chars(text.data(), text.data() + text.size(), steps);
  if (parsed.ec != std::errc() || parsed.ptr != text.data() + text.size() || steps < 0)
    throw input_error(fmt::format("{}: {} is not accepted; accepted: a number of steps, at least 0, or auto", field,
                                  in_quotes(text)));
  return steps;
}

OnOom parse_on_oom(std::string_view text, std::string_view field) {
  for (const OnOom choice : {OnOom::shrink, OnOom::fail, OnOom::restart})
    if (text == to_string(choice))
      return choice;
  throw input_error(fmt::format("{}: {} is not accepted; accepted: shrink, fail, restart", field, in_quotes(text)));
}

std::string to_string(OnOom choice) {
  return choice == OnOom::shrink ? "shrink" : choice == OnOom::fail ? "fail" : "restart";
}

} // namespace batchscope::run
