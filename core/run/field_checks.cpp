#include "core/run/detail/field_checks.h"

#include <algorithm>
#include <cstdint>

#include <fmt/format.h>

#include "core/base/device_name.h"
#include "core/base/error.h"
#include "core/base/text.h"
#include "core/data/augmentation.h"
#include "core/data/dataset.h"
#include "core/run/model_spec.h"
#include "core/schedule/shares.h"

namespace batchscope::run {

namespace {

/// The batch for checking a schedule if a search is still to find the real one.
std::int64_t stand_in_batch(const RunSpec& spec) {
  if (spec.batch.kind == BatchChoice::Kind::number)
    return std::max<std::int64_t>(spec.batch.number, 1);
  return schedule::first_batch_of(spec.schedule).value_or(1);
}

/// Whether the text of the data can be read; if not, check_data() reports it and nothing else can be checked.
bool has_readable_data(const RunSpec& spec) {
  try {
    data::check_data_text(spec.data);
    return true;
  } catch (const Error&) {
    return false;
  }
}

void refuse_without_streams(const RunSpec& spec, const std::string& option, const std::string& given) {
  throw input_error(fmt::format("{}: {} is not accepted with --data {}, which is one source; accepted with several "
                                "streams, as in --data a=SOURCE,b=SOURCE",
                                option, in_quotes(given), shortened(spec.data)));
}

} // namespace

void check_model(const RunSpec& spec) {
  parse_model(spec.model);
}

void check_data(const RunSpec& spec) {
  if (spec.data.empty())
    throw input_error("--data: \"\" is not accepted; accepted: demo, idx:IMAGES,LABELS, text:FILE, lines:FILE, "
                      "csv:FILE,target=NAME, npy:INPUTS,TARGETS, npz:FILE, images:DIR, synthetic:... or several "
                      "streams, a=SOURCE,b=SOURCE");
  data::check_data_text(spec.data);
}

void check_augment(const RunSpec& spec) {
  data::parse_augmentation(spec.augment);
}

void check_stream_shares(const RunSpec& spec) {
  if (spec.shares.empty() || !has_readable_data(spec))
    return;
  const std::vector<std::string> names = data::stream_names(spec.data);
  if (names.empty())
    refuse_without_streams(spec, "--shares", spec.shares);
  const auto clock = std::find(names.begin(), names.end(), spec.clock);
  schedule::check_shares(spec.shares, names,
                         clock == names.end() ? 0 : static_cast<std::size_t>(clock - names.begin()));
}

void check_clock(const RunSpec& spec) {
  if (spec.clock.empty() || !has_readable_data(spec))
    return;
  const std::vector<std::string> names = data::stream_names(spec.data);
  if (names.empty())
    refuse_without_streams(spec, "--clock", spec.clock);
  schedule::clock_of(spec.clock, names);
}

void check_group_by_length(const RunSpec& spec) {
  if (spec.group_by_length && has_readable_data(spec) && !data::lengths_vary(spec.data))
    throw input_error(fmt::format("--group-by-length: the examples of {} are all of one length; accepted with "
                                  "--data lines:FILE",
                                  in_quotes(spec.data)));
}

void check_seed(const RunSpec& spec) {
  if (spec.seed > static_cast<std::uint64_t>(INT64_MAX))
    throw input_error(
        fmt::format("--seed: {} is not accepted; accepted: a whole number from 0 to {}", spec.seed, INT64_MAX));
}

void check_batch(const RunSpec& spec) {
  if (spec.batch.kind == BatchChoice::Kind::number && spec.batch.number < 1)
    throw input_error(
        fmt::format("--batch: {} is not accepted; accepted: a whole number, at least 1", spec.batch.number));
}

void check_effective_batch(const RunSpec& spec) {
  if (spec.effective_batch && spec.accumulate != 1)
    throw input_error(fmt::format("--effective-batch {} and --accumulate {} are both given; accepted: one of them",
                                  *spec.effective_batch, spec.accumulate));
}

void check_schedule(const RunSpec& spec) {
  schedule::ScheduleOrigin origin;
  origin.batch = stand_in_batch(spec);
  origin.max_batch = std::max(spec.max_batch.value_or(INT64_MAX), origin.batch);
  if (schedule::make_schedule(spec.schedule, origin)->needs_noise() && spec.effective_batch)
    throw input_error(fmt::format("--schedule {} follows the noise scale, and --effective-batch {} fixes the effective "
                                  "batch; accepted: one of them",
                                  spec.schedule, *spec.effective_batch));
}

void check_max_batch(const RunSpec& spec) {
  if (spec.max_batch && spec.batch.kind == BatchChoice::Kind::number && *spec.max_batch < spec.batch.number)
    throw input_error(fmt::format("--max-batch: {} is below the first batch, {}", *spec.max_batch, spec.batch.number));
}

void check_length(const RunSpec& spec) {
  const auto& [epochs, examples, steps] = spec.length;
  if (int(epochs.has_value()) + int(examples.has_value()) + int(steps.has_value()) != 1)
    throw input_error("length of the run: accepted is exactly one of --epochs, --examples and --steps");
}

void check_momentum(const RunSpec& spec) {
  if (spec.momentum && spec.optimizer != "sgd")
    throw input_error(
        fmt::format("--momentum: {} has no momentum; accepted only with --optimizer sgd", spec.optimizer));
}

void check_warmup(const RunSpec& spec) {
  parse_warmup(spec.warmup, "--warmup");
}

void check_device(const RunSpec& spec) {
  parse_device(spec.device);
}

void check_precision(const RunSpec& spec) {
  if (spec.device != "cpu")
    return;
  if (spec.precision == "fp16")
    throw input_error("--precision: fp16 is not accepted with --device cpu; accepted: fp32, bf16 (which takes the same "
                      "memory as fp16)");
  if (spec.precision == "tf32")
    throw input_error("--precision: tf32 is not accepted with --device cpu; accepted: fp32, bf16");
}

void check_dropout(const RunSpec& spec) {
  if (spec.dropout > 0 && is_script(spec.model))
    throw input_error(
        fmt::format("--dropout: {} is not accepted with a TorchScript model, which has its own; accepted: "
                    "0",
                    spec.dropout));
}

void check_batch_norm_rule(const RunSpec& spec) {
  if (spec.batch_norm_rule != "none" && is_script(spec.model))
    throw input_error(fmt::format("--batch-norm-rule: {} is not accepted with a TorchScript model, whose momentum is "
                                  "part of it; accepted: none",
                                  spec.batch_norm_rule));
}

void check_checkpointing(const RunSpec& spec) {
  if (spec.checkpointing && is_script(spec.model))
    throw input_error("--checkpointing: not accepted with a TorchScript model, which does not say what its blocks are; "
                      "accepted: with a built-in model, or checkpoints within the model's own code");
}

std::string derived_learning_rate(const RunSpec& spec) {
  return fmt::format("{}", learning_rate_or_default(spec));
}

std::string derived_momentum(const RunSpec& spec) {
  return spec.optimizer == "sgd" ? fmt::format("{}", momentum_or_default(spec)) : std::string();
}

std::string derived_weight_decay(const RunSpec& spec) {
  return fmt::format("{}", weight_decay_or_default(spec));
}

std::string derived_reference_batch(const RunSpec& spec) {
  return spec.effective_batch ? fmt::format("{}", *spec.effective_batch) : derived_effective_batch(spec);
}

std::string derived_effective_batch(const RunSpec& spec) {
  const bool countable = spec.batch.kind == BatchChoice::Kind::number && spec.batch.number > 0 &&
                         spec.accumulate <= INT64_MAX / spec.batch.number;
  return countable ? fmt::format("{}", spec.batch.number * spec.accumulate) : std::string();
}

} // namespace batchscope::run
