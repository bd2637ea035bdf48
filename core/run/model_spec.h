#pragma once

#include <cstdint>
#include <string>

#include "core/data/dataset.h"

namespace batchscope::run {

/// A built-in model and its sizes. A plain value.
struct ModelSpec {
  enum class Kind { mlp, cnn, resnet, gpt };
  enum class Norm { group, batch };

  Kind kind = Kind::cnn;
  std::int64_t hidden = 256;  ///< mlp: units of each hidden layer, 1..65536
  std::int64_t layers = 1;    ///< mlp: hidden layers, 1..64; gpt: blocks, 1..256 (default 4)
  std::int64_t width = 32;    ///< cnn: channels of the first layer, 1..1024 (32); resnet (16); gpt: 1..16384 (128)
  std::int64_t blocks = 2;    ///< resnet: residual blocks of each of the three stages, 1..32
  std::int64_t heads = 4;     ///< gpt: attention heads; must divide width
  std::int64_t context = 128; ///< gpt: tokens per example, 1..65536
  Norm norm = Norm::group;    ///< cnn, resnet
};

/// Reads `cnn:width=32,norm=group`, `mlp:hidden=256`, `resnet:width=16`, `gpt:layers=4,heads=4,width=128,context=128`.
/// Throws Error (input) naming the model or parameter and the limit that it exceeds.
ModelSpec parse_model(const std::string& text);

/// Throws Error (input) if the model cannot take such examples (an image model on text, an image too small).
void check_fits(const ModelSpec& spec, const data::ExampleShape& shape);

/// Whether the examples of a micro batch affect each other, so that splitting a batch changes the result.
bool has_batch_norm(const ModelSpec& spec);

} // namespace batchscope::run
