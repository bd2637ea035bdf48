#include "core/estimate/run_of.h"

#include <cmath>

#include <fmt/format.h>

#include "core/run/model_spec.h"

namespace batchscope::estimate {

std::optional<run::RunSpec> run_of(const Transformer& model, const Training& training) {
  const bool runs =
      (training.precision == Training::Precision::fp32 || training.precision == Training::Precision::mixed) &&
      training.attention == Training::Attention::fused && training.lora_rank == 0 && training.shards == 1 &&
      training.optimizer != Training::Optimizer::adam8bit;
  if (!runs || model.model.empty())
    return std::nullopt;
  run::RunSpec spec;
  spec.checkpointing = training.checkpointing;
  spec.precision = training.precision == Training::Precision::mixed ? "bf16" : "fp32";
  spec.model = run::with_size(model.model, "context", std::llround(training.sequence));
  spec.data = fmt::format("synthetic:vocabulary={}", model.vocabulary > 0 ? model.vocabulary : default_vocabulary);
  if (training.optimizer != Training::Optimizer::adam) {
    spec.optimizer = "sgd";
    spec.momentum = training.optimizer == Training::Optimizer::momentum ? 0.9 : 0.0;
  }
  return spec;
}

Transformer gpt_of(std::int64_t layers, std::int64_t width, std::int64_t heads, std::int64_t vocabulary,
                   std::int64_t positions) {
  Transformer model;
  model.layers = layers;
  model.width = width;
  model.heads = heads;
  model.vocabulary = vocabulary;
  model.positions = positions;
  model.model = fmt::format("gpt:layers={},heads={},width={}", layers, heads, width);
  run::parse_model(model.model);
  const auto l = static_cast<double>(layers), w = static_cast<double>(width);
  // A layer: two norms, queries, keys, values, their projection, and two layers of 4 times the width; all with biases.
  model.parameters = l * (12 * w * w + 13 * w) + w * static_cast<double>(vocabulary + positions) + 2 * w;
  return model;
}

} // namespace batchscope::estimate
