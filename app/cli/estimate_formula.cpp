#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "app/cli/arguments.h"
#include "app/cli/estimate_answer.h"
#include "app/cli/estimate_dry_run.h"
#include "app/cli/estimate_options.h"
#include "core/base/error.h"
#include "core/estimate/growth.h"
#include "core/estimate/run_of.h"
#include "core/estimate/savings.h"
#include "core/estimate/transformer.h"
#include "core/run/model_spec.h"

namespace batchscope::cli {

namespace {

using estimate::Training;
using estimate::Transformer;
using estimate_limits::most;

constexpr std::int64_t default_sequence = 512;

Transformer transformer_of(const EstimateOptions& options) {
  if (const auto file = text_of(options.config)) {
    for (const CLI::Option* number : {options.parameters, options.layers, options.hidden, options.heads})
      exclude(options.config, number);
    return estimate::transformer_from_config(read_spec_file(*file), *file);
  }
  require(options.layers, "the number of layers");
  require(options.hidden, "the hidden size");
  Transformer model;
  const double parameters = *number_of(options.parameters);
  if (!(parameters >= 1 && parameters < 9.2e18))
    throw input_error("--parameters: the number of parameters must be from 1 to 2^63");
  model.parameters = parameters;
  model.layers = *integer_of(options.layers, 1, most);
  model.width = *integer_of(options.hidden, 1, most);
  model.heads = integer_of(options.heads, 1, most).value_or(std::max<std::int64_t>(model.width / 64, 1));
  model.vocabulary = integer_of(options.vocabulary, 1, most).value_or(0);
  model.model = fmt::format("gpt:layers={},heads={},width={}", model.layers, model.heads, model.width);
  try {
    run::parse_model(model.model);
  } catch (const Error&) {
    model.model.clear(); // beyond the bounds of the engine, not of the formula
  }
  return model;
}

Training training_of(const EstimateOptions& options, const Transformer& model) {
  Training training;
  training.batch = static_cast<double>(integer_of(options.batch, 1, most).value_or(1));
  const std::int64_t positions = model.positions > 0 ? model.positions : default_sequence;
  training.sequence =
      static_cast<double>(integer_of(options.sequence, 1, most).value_or(std::min(positions, default_sequence)));
  const bool learned_positions = model.family == "gpt2" || model.family == "bert";
  if (learned_positions && training.sequence > static_cast<double>(model.positions))
    throw input_error(
        fmt::format("--sequence: {:.0f} is longer than this model's {} positions", training.sequence, model.positions));
  training.precision = estimate::precision_from(text_of(options.precision).value_or("fp32"));
  training.optimizer = estimate::optimizer_from(text_of(options.optimizer).value_or("adam"));
  training.attention = estimate::attention_from(text_of(options.attention).value_or("fused"));
  training.checkpointing = options.checkpointing->count() > 0;
  training.lora_rank = static_cast<double>(integer_of(options.lora_rank, 1, most).value_or(0));
  training.shards = static_cast<double>(integer_of(options.shards, 1, most).value_or(1));
  const bool quantized =
      training.precision == Training::Precision::int8 || training.precision == Training::Precision::int4;
  if (quantized && training.lora_rank == 0)
    throw input_error(fmt::format("--precision: quantized weights are not trained themselves; accepted: {} with "
                                  "--lora-rank",
                                  *text_of(options.precision)));
  return training;
}

/// Nothing for a training that the engine does not run.
std::optional<Subject> subject_of(const Transformer& model, const Training& training) {
  const auto spec = estimate::run_of(model, training);
  return spec ? std::optional(Subject{.spec = *spec, .made_up = spec->data}) : std::nullopt;
}

} // namespace

int estimate_by_formula(const EstimateOptions& options, const Context& context) {
  const Transformer model = transformer_of(options);
  const Training training = training_of(options, model);
  const auto target = target_of(options);
  const auto batch = static_cast<std::int64_t>(training.batch);
  Json answer{{"method", "formula"}, {"parameters", json_number(model.parameters)}};
  add_formulas(answer, model, training, target, true);
  data::DataPool pool;
  const auto subject = subject_of(model, training);
  std::optional<estimate::DryRuns> dry_runs;
  if (target)
    dry_runs.emplace(*target);
  std::optional<DryAnswer> dry;
  if (subject) {
    dry = dry_run(*subject, dry_runs, batch, pool);
    answer["dry_run"] = dry->json;
  }
  if (options.verify->count() > 0) {
    if (!dry)
      throw input_error("--verify works only with fp32 or mixed precision, fused attention, and without --lora-rank, "
                        "--shards and adam8bit");
    add_measured(answer, measure(*subject, *dry));
  }
  if (target) {
    answer["for"] = json_of(*target);
    answer["room"] =
        dry ? room_json(batch, estimate::room_to_grow(dry->spec, *dry_runs, batch, pool),
                        estimate::savings_of(dry->spec, *dry->fit, *dry_runs, pool))
            : room_json(batch, {}, estimate::savings(model, training, static_cast<double>(target->usable_bytes()), {}));
  }
  print_answer(answer, batch, target, context);
  return exit_status::done;
}

} // namespace batchscope::cli
