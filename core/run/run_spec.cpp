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

namespace {

constexpr std::pair<const char*, BatchChoice::Kind> searched_batches[] = {
    {"auto", BatchChoice::Kind::automatic},
    {"auto:recommended", BatchChoice::Kind::recommended},
    {"auto:safe", BatchChoice::Kind::safe},
    {"auto:largest", BatchChoice::Kind::largest},
};

} // namespace

BatchChoice parse_batch(std::string_view text, std::string_view field) {
  for (const auto& [name, kind] : searched_batches)
    if (text == name)
      return {kind, 0};
  std::int64_t number = 0;
  const auto parsed = std::from_chars(text.data(), text.data() + text.size(), number);
  if (parsed.ec != std::errc() || parsed.ptr != text.data() + text.size() || number < 1)
    throw input_error(fmt::format("{}: {} is not accepted; accepted: a whole number, at least 1, auto, "
                                  "auto:recommended, auto:safe or auto:largest",
                                  field, in_quotes(text)));
  return {BatchChoice::Kind::number, number};
}

std::string to_string(const BatchChoice& choice) {
  for (const auto& [name, kind] : searched_batches)
    if (choice.kind == kind)
      return name;
  return std::to_string(choice.number);
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
  if (text != "shrink" && text != "fail")
    throw input_error(fmt::format("{}: {} is not accepted; accepted: shrink, fail", field, in_quotes(text)));
  return text == "shrink" ? OnOom::shrink : OnOom::fail;
}

std::string to_string(OnOom choice) {
  return choice == OnOom::shrink ? "shrink" : "fail";
}

} // namespace batchscope::run
