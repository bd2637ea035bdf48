// The checks of check(), field by field.
#include <algorithm>
#include <cmath>
#include <initializer_list>
#include <limits>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "core/base/device_name.h"
#include "core/base/error.h"
#include "core/base/text.h"
#include "core/data/dataset.h"
#include "core/run/detail/run_checks.h"
#include "core/run/model_spec.h"

namespace batchscope::run {

namespace {

constexpr std::uint64_t smallest_budget = 1'000'000;

template <typename Value> Error refused(const char* option, const Value& given, std::string_view accepted) {
  return input_error(fmt::format("{}: {} is not accepted; accepted: {}", option, given, accepted));
}

void check_one_of(const char* option, const std::string& given, std::initializer_list<const char*> accepted) {
  if (std::find(accepted.begin(), accepted.end(), given) == accepted.end())
    throw refused(option, in_quotes(given), fmt::format("{}", fmt::join(accepted, ", ")));
}

void check_at_least_one(const char* option, std::optional<std::int64_t> given) {
  if (given && *given < 1)
    throw refused(option, *given, "a whole number, at least 1");
}

/// Rejects NaN, too.
void check_share(const char* option, double given) {
  if (!(given >= 0 && given < 1))
    throw refused(option, given, "a number of at least 0 and below 1");
}

void check_positive(const char* option, std::optional<double> given) {
  if (given && !(std::isfinite(*given) && *given > 0))
    throw refused(option, *given, "a finite number above 0");
}

void check_data(const RunSpec& spec) {
  if (spec.data.empty())
    throw refused("--data", "\"\"",
                  "demo, idx:IMAGES,LABELS, text:FILE, lines:FILE, csv:FILE,target=NAME or "
                  "synthetic:...");
  data::check_data_text(spec.data);
}

void check_budget(const RunSpec& spec) {
  if (spec.memory_budget && *spec.memory_budget < smallest_budget)
    throw refused("--memory-budget", fmt::format("{} bytes", *spec.memory_budget), "at least 1MB");
}

void check_effective_batch(const RunSpec& spec) {
  check_at_least_one("--effective-batch", spec.effective_batch);
  if (spec.effective_batch && spec.accumulate != 1)
    throw input_error(fmt::format("--effective-batch {} and --accumulate {} are both given; accepted: one of them",
                                  *spec.effective_batch, spec.accumulate));
}

void check_max_batch(const RunSpec& spec) {
  check_at_least_one("--max-batch", spec.max_batch);
  if (spec.max_batch && spec.batch.kind == BatchChoice::Kind::number && *spec.max_batch < spec.batch.number)
    throw input_error(fmt::format("--max-batch: {} is below the first batch, {}", *spec.max_batch, spec.batch.number));
}

void check_epochs(const RunSpec& spec) {
  const auto& [epochs, examples, steps] = spec.length;
  check_at_least_one("--epochs", epochs);
  if (int(epochs.has_value()) + int(examples.has_value()) + int(steps.has_value()) != 1)
    throw input_error("the length of the run: accepted: exactly one of --epochs, --examples and --steps");
}

void check_seed(const RunSpec& spec) {
  if (spec.seed > static_cast<std::uint64_t>(unbounded))
    throw refused("--seed", spec.seed, fmt::format("a whole number from 0 to {}", unbounded));
}

void check_momentum(const RunSpec& spec) {
  if (!spec.momentum)
    return;
  if (spec.optimizer != "sgd")
    throw input_error(fmt::format("--momentum: {} has no momentum; accepted: with --optimizer sgd", spec.optimizer));
  check_share("--momentum", *spec.momentum);
}

void check_weight_decay(const RunSpec& spec) {
  if (spec.weight_decay && !(std::isfinite(*spec.weight_decay) && *spec.weight_decay >= 0))
    throw refused("--weight-decay", *spec.weight_decay, "a finite number, at least 0");
}

/// The batch for checking a schedule if a search is still to find the real one.
std::int64_t stand_in_batch(const RunSpec& spec) {
  if (spec.batch.kind == BatchChoice::Kind::number)
    return std::max<std::int64_t>(spec.batch.number, 1);
  return schedule::first_batch_of(spec.schedule).value_or(1);
}

void check_schedule(const RunSpec& spec) {
  schedule::ScheduleOrigin origin;
  origin.batch = stand_in_batch(spec);
  origin.max_batch = std::max(spec.max_batch.value_or(unbounded), origin.batch);
  schedule::make_schedule(spec.schedule, origin);
}

constexpr RunCheck checks[] = {
    {"model", [](const RunSpec& spec) { run::parse_model(spec.model); }},
    {"data", check_data},
    {"device", [](const RunSpec& spec) { parse_device(spec.device); }},
    {"memory_budget", check_budget},
    {"batch",
     [](const RunSpec& spec) {
       if (spec.batch.kind == BatchChoice::Kind::number)
         check_at_least_one("--batch", spec.batch.number);
     }},
    {"accumulate", [](const RunSpec& spec) { check_at_least_one("--accumulate", spec.accumulate); }},
    {"effective_batch", check_effective_batch},
    {"max_batch", check_max_batch},
    {"lr_reference_batch",
     [](const RunSpec& spec) { check_at_least_one("--lr-reference-batch", spec.lr_reference_batch); }},
    {"epochs", check_epochs},
    {"examples", [](const RunSpec& spec) { check_at_least_one("--examples", spec.length.examples); }},
    {"steps", [](const RunSpec& spec) { check_at_least_one("--steps", spec.length.steps); }},
    {"seed", check_seed},
    {"optimizer",
     [](const RunSpec& spec) {
       check_one_of("--optimizer", spec.optimizer, {"sgd", "adam", "adamw"});
     }},
    {"lr", [](const RunSpec& spec) { check_positive("--lr", spec.learning_rate); }},
    {"momentum", check_momentum},
    {"weight_decay", check_weight_decay},
    {"dropout", [](const RunSpec& spec) { check_share("--dropout", spec.dropout); }},
    {"label_smoothing", [](const RunSpec& spec) { check_share("--label-smoothing", spec.label_smoothing); }},
    {"clip", [](const RunSpec& spec) { check_positive("--clip", spec.clip); }},
    {"margin", [](const RunSpec& spec) { check_share("--margin", spec.margin); }},
    {"lr_rule",
     [](const RunSpec& spec) {
       check_one_of("--lr-rule", spec.lr_rule, {"none", "linear", "sqrt"});
     }},
    {"lr_decay",
     [](const RunSpec& spec) {
       check_one_of("--lr-decay", spec.lr_decay, {"constant", "cosine", "linear", "step"});
     }},
    {"regularization_rule",
     [](const RunSpec& spec) {
       check_one_of("--regularization-rule", spec.regularization_rule, {"none", "sqrt"});
     }},
    {"task",
     [](const RunSpec& spec) {
       check_one_of("--task", spec.task, {"scratch", "fine-tuning"});
     }},
    {"warmup", [](const RunSpec& spec) { parse_warmup(spec.warmup, "--warmup"); }},
    {"schedule", check_schedule},
};

} // namespace

std::span<const RunCheck> run_checks() {
  return checks;
}

void check(const RunSpec& spec) {
  for (const RunCheck& each : checks)
    each.check(spec);
}

} // namespace batchscope::run
