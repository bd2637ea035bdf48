#pragma once

#include <memory>
#include <string>
#include <vector>

#include <ATen/core/Generator.h>
#include <ATen/core/Tensor.h>

#include "core/data/dataset.h"
#include "core/model/detail/layers.h"
#include "core/run/model_spec.h"

namespace batchscope::model {

/// A network: trainable parameters, buffers that a forward pass may move (batch norm's statistics), and the forward
/// pass itself. One thread.
class Model {
public:
  virtual ~Model() = default;

  /// Features [b, n], images [b, c, h, w] (float) or tokens [b, t] (int64) to logits: [b, classes], [b, 1] for a
  /// number, or [b, t, vocabulary]. `training` turns dropout on and lets batch norm move its statistics.
  virtual at::Tensor forward(const at::Tensor& input, bool training) = 0;

  const std::vector<at::Tensor>& parameters() const { return parameters_; }
  const std::vector<at::Tensor>& buffers() const { return buffers_; }
  double dropout() const { return dropout_; }
  void set_dropout(double p) { dropout_ = p; }

protected:
  explicit Model(double dropout) : dropout_(dropout) {}
  /// For the layers: puts their tensors into this model's lists.
  LayerContext layer_context(at::Generator generator, c10::Device device);
  at::Tensor drop(const at::Tensor& x, bool training) const;

private:
  at::Tensor add_parameter(at::Tensor tensor);
  at::Tensor add_buffer(at::Tensor tensor);

  std::vector<at::Tensor> parameters_;
  std::vector<at::Tensor> buffers_;
  double dropout_;
};

/// Makes the model for such examples with weights drawn from `seed`, on a device. Fits must have been checked.
std::unique_ptr<Model> make_model(const run::ModelSpec& spec, const data::ExampleShape& shape, double dropout,
                                  std::uint64_t seed, c10::Device device);

} // namespace batchscope::model
