#pragma once

#include <memory>

#include "core/model/detail/layers.h"
#include "core/model/detail/model.h"

namespace batchscope::model {

struct NetworkOptions {
  run::ModelSpec spec;
  data::ExampleShape shape;
  double dropout = 0;
  at::Generator generator;
  c10::Device device;
};

/// Width of the last layer: number of classes, 1 for a number, or the vocabulary size.
std::int64_t outputs_for(const data::ExampleShape& shape);

/// Fully connected layers with ReLU; images are flattened.
std::unique_ptr<Model> make_mlp(const NetworkOptions& options);
/// Two convolutions with norm, ReLU and pooling, then a linear layer.
std::unique_ptr<Model> make_cnn(const NetworkOptions& options);
/// Three stages of residual blocks (He et al. 2016, the variant for small images; large ones are halved twice first).
std::unique_ptr<Model> make_resnet(const NetworkOptions& options);
/// Decoder with learned position embeddings, pre-norm blocks and scaled dot-product attention.
std::unique_ptr<Model> make_gpt(const NetworkOptions& options);

} // namespace batchscope::model
