#include "core/estimate/formula.h"

#include <array>
#include <cmath>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "core/base/error.h"
#include "core/base/text.h"

namespace batchscope::estimate {

namespace {

using Precision = Training::Precision;
using Optimizer = Training::Optimizer;

/// Bytes of one number that is computed with.
double bytes_of(Precision precision) {
  return precision == Precision::fp32 ? 4 : 2;
}

double bytes_of_base_weight(Precision precision) {
  switch (precision) {
  case Precision::fp32:
    return 4;
  case Precision::mixed:
    return 4 + 2; // and the 16-bit copy
  case Precision::fp16:
    return 2;
  case Precision::int8:
    return 1;
  case Precision::int4:
    return 0.5;
  }
  return 4;
}

/// Bytes of a parameter that is trained. Adapters are trained in fp32 unless everything is 16 bit.
double bytes_of_trained(Precision precision) {
  return precision == Precision::fp16 ? 2 : 4;
}

double optimizer_numbers(Optimizer optimizer) {
  switch (optimizer) {
  case Optimizer::adam:
    return 2;
  case Optimizer::momentum:
    return 1;
  case Optimizer::adam8bit:
  case Optimizer::sgd:
    return 0;
  }
  return 0;
}

/// r x (in + out) for the query and the value projection of each layer, both width x width.
double adapter_parameters(const Transformer& model, double rank) {
  return static_cast<double>(model.layers) * 2 * rank * 2 * static_cast<double>(model.width);
}

double layer_activations(const Transformer& model, const Training& training) {
  const double tokens = training.batch * training.sequence;
  const auto width = static_cast<double>(model.width);
  const double quadratic = training.attention == Training::Attention::eager
                               ? 5 * static_cast<double>(model.heads) * training.sequence / width
                               : 0;
  return tokens * width * (34 + quadratic) * bytes_of(training.precision) / 2;
}

template <typename Value, std::size_t N>
Value choice_from(const std::string& text, const char* option,
                  const std::array<std::pair<const char*, Value>, N>& choices) {
  std::vector<std::string> accepted;
  for (const auto& [name, value] : choices) {
    if (text == name)
      return value;
    accepted.emplace_back(name);
  }
  throw input_error(
      fmt::format("{}: {} is not accepted; accepted: {}", option, in_quotes(text), fmt::join(accepted, ", ")));
}

} // namespace

Training training_of(const run::RunSpec& spec, std::int64_t batch) {
  Training training;
  training.batch = static_cast<double>(batch);
  training.sequence = static_cast<double>(run::parse_model(spec.model).context());
  training.checkpointing = spec.checkpointing;
  if (spec.precision != "fp32")
    training.precision = Training::Precision::mixed;
  if (spec.optimizer == "sgd")
    training.optimizer = run::momentum_or_default(spec) > 0 ? Optimizer::momentum : Optimizer::sgd;
  else if (spec.optimizer == "rmsprop")
    training.optimizer = Optimizer::momentum; // which keeps as much: one number for each parameter
  return training;
}

Estimate rule_of_thumb(const Transformer& model, const Training& training) {
  constexpr std::array bytes{4.0, 4.0, 2.0, 1.0, 0.5};
  const double each = bytes[static_cast<std::size_t>(training.precision)];
  const double layer = training.batch * training.sequence * static_cast<double>(model.width) * each;
  return {.parameters = model.parameters * each,
          .gradients = model.parameters * each,
          .optimizer = model.parameters * each * (training.optimizer == Optimizer::sgd ? 0 : 2),
          .activations = training.checkpointing ? layer : layer * static_cast<double>(model.layers)};
}

Estimate by_formula(const Transformer& model, const Training& training) {
  const bool adapters = training.lora_rank > 0;
  const double trained = adapters ? adapter_parameters(model, training.lora_rank) : model.parameters;
  const double each = bytes_of_trained(training.precision);
  // Frozen weights need no fp32 copy.
  const double base = adapters && training.precision == Precision::mixed ? 2 : bytes_of_base_weight(training.precision);
  const double state = training.optimizer == Optimizer::adam8bit ? 2 : optimizer_numbers(training.optimizer) * each;
  const double layer = layer_activations(model, training);
  const auto layers = static_cast<double>(model.layers);
  const double tokens = training.batch * training.sequence;
  const double kept = tokens * static_cast<double>(model.width) * bytes_of(training.precision);
  const double logits = tokens * static_cast<double>(model.vocabulary) * bytes_of(training.precision);
  return {.parameters = (model.parameters * base + (adapters ? trained * each : 0)) / training.shards,
          .gradients = trained * each / training.shards,
          .optimizer = trained * state / training.shards,
          .activations = (training.checkpointing ? layers * kept + layer : layers * layer) + logits};
}

std::int64_t max_batch(Estimate (*estimate)(const Transformer&, const Training&), const Transformer& model,
                       const Training& training, double bytes) {
  Training none = training, one = training;
  none.batch = 0;
  one.batch = 1;
  const double fixed = estimate(model, none).total();
  const double each = estimate(model, one).total() - fixed;
  if (each <= 0 || fixed >= bytes)
    return 0;
  return static_cast<std::int64_t>(std::min(std::floor((bytes - fixed) / each), largest_computed_batch));
}

Training::Precision precision_from(const std::string& text) {
  return choice_from(text, "--precision",
                     std::array{std::pair{"fp32", Precision::fp32}, std::pair{"mixed", Precision::mixed},
                                std::pair{"fp16", Precision::fp16}, std::pair{"int8", Precision::int8},
                                std::pair{"4bit", Precision::int4}});
}

Training::Optimizer optimizer_from(const std::string& text) {
  return choice_from(text, "--optimizer",
                     std::array{std::pair{"adam", Optimizer::adam}, std::pair{"adamw", Optimizer::adam},
                                std::pair{"adam8bit", Optimizer::adam8bit}, std::pair{"momentum", Optimizer::momentum},
                                std::pair{"sgd", Optimizer::sgd}});
}

Training::Attention attention_from(const std::string& text) {
  return choice_from(
      text, "--attention",
      std::array{std::pair{"fused", Training::Attention::fused}, std::pair{"eager", Training::Attention::eager}});
}

} // namespace batchscope::estimate
