#include "core/estimate/savings.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <utility>

#include "core/run/model_spec.h"

namespace batchscope::estimate {

namespace {

constexpr double adapter_rank = 16;

struct Change {
  const char* name;
  const char* title;
  /// False if it is made already.
  bool (*make)(Training& training);
  /// The same for a run; null if this program cannot train it.
  bool (*train)(run::RunSpec& spec) = nullptr;
};

bool halve_context(run::RunSpec& spec) {
  const run::ModelSpec model = run::parse_model(spec.model);
  if (run::kind_of(model).script || model.sizes.count("context") == 0 || model.context() < 2)
    return false;
  spec.model = run::with_size(spec.model, "context", model.context() / 2);
  return true;
}

constexpr std::array changes{
    Change{"checkpointing", "activation checkpointing",
           [](Training& training) { return !std::exchange(training.checkpointing, true); },
           [](run::RunSpec& spec) { return !run::is_script(spec.model) && !std::exchange(spec.checkpointing, true); }},
    Change{"mixed", "mixed precision (16 bit)",
           [](Training& training) {
             return std::exchange(training.precision, Training::Precision::mixed) == Training::Precision::fp32;
           },
           [](run::RunSpec& spec) {
             const std::string before = std::exchange(spec.precision, "bf16");
             return before == "fp32" || before == "tf32";
           }},
    Change{"adam8bit", "8-bit Adam",
           [](Training& training) {
             return std::exchange(training.optimizer, Training::Optimizer::adam8bit) == Training::Optimizer::adam;
           }},
    Change{"lora", "LoRA of rank 16, in 16 bit",
           [](Training& training) {
             if (training.precision == Training::Precision::fp32)
               training.precision = Training::Precision::mixed;
             return std::exchange(training.lora_rank, adapter_rank) == 0;
           }},
    Change{"half-sequence", "half the sequence length",
           [](Training& training) {
             training.sequence = std::floor(training.sequence / 2);
             return training.sequence >= 1;
           },
           halve_context},
};

double fixed(const Estimate& estimate) {
  return estimate.total() - estimate.activations;
}

double scale(double known, double formula) {
  return formula > 0 ? known / formula : 1;
}

} // namespace

MemoryParts memory_parts(const run::MemoryPrediction& prediction) {
  // Where activations, not the optimizer's step, make the peak; but of a number of bytes that can be counted.
  constexpr std::uint64_t most = std::uint64_t{1} << 50;
  std::int64_t large = std::clamp<std::int64_t>(prediction.max_batch, 2, std::int64_t{1} << 20);
  while (large > 2 && prediction.curve.at(large).bytes > most)
    large /= 2;
  const auto high = prediction.curve.at(large), low = prediction.curve.at(large / 2);
  const auto part = [&](telemetry::Use use) { return static_cast<double>(high.by[static_cast<std::size_t>(use)]); };
  const double grown = static_cast<double>(high.bytes) - static_cast<double>(low.bytes);
  return {.model = part(telemetry::Use::parameters) * 2 + part(telemetry::Use::optimizer), // gradients like parameters
          .per_example = std::max(grown, 1.0) / static_cast<double>(large - large / 2)};
}

std::vector<TrainedSaving> trained_savings(const run::RunSpec& spec) {
  std::vector<TrainedSaving> all;
  for (const Change& change : changes) {
    run::RunSpec changed = spec;
    if (change.train != nullptr && change.train(changed))
      all.push_back({change.name, change.title, std::move(changed)});
  }
  return all;
}

std::vector<Saving> savings(const Transformer& model, const Training& training, double usable_bytes,
                            const std::optional<MemoryParts>& known) {
  const Estimate formula = by_formula(model, training);
  const double fixed_scale = known ? scale(known->model, fixed(formula)) : 1;
  const double activation_scale = known ? scale(known->per_example, formula.activations / training.batch) : 1;
  std::vector<Saving> all;
  for (const Change& change : changes) {
    Training changed = training;
    if (!change.make(changed))
      continue;
    const Estimate estimate = by_formula(model, changed);
    const double model_bytes = fixed_scale * fixed(estimate),
                 each = activation_scale * estimate.activations / training.batch;
    const double batch = std::floor(std::max(usable_bytes - model_bytes, 0.0) / each);
    all.push_back({change.name, change.title, model_bytes + each * training.batch,
                   static_cast<std::int64_t>(std::min(batch, largest_computed_batch))});
  }
  return all;
}

} // namespace batchscope::estimate
