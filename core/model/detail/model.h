#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <ATen/core/Generator.h>
#include <ATen/core/Tensor.h>

#include "core/data/dataset.h"
#include "core/model/detail/checkpoint.h"
#include "core/model/detail/layers.h"
#include "core/run/model_spec.h"

namespace batchscope::model {

/// A network: trainable parameters, buffers that a forward pass may update (batch norm statistics), and the forward
/// pass. One thread.
class Model {
public:
  virtual ~Model() = default;

  /// Maps features [b, n], images [b, c, h, w] (float) or tokens [b, t] (int64) to logits: [b, classes], [b, 1] for a
  /// number, or [b, t, vocabulary]. `training` enables dropout and the update of batch norm statistics.
  virtual at::Tensor forward(const at::Tensor& input, bool training) = 0;

  const std::vector<at::Tensor>& parameters() const { return parameters_; }
  const std::vector<at::Tensor>& buffers() const { return buffers_; }
  /// Parameters and buffers with the names of PyTorch's state_dict(); without buffers that follow from the sizes.
  const std::vector<std::pair<std::string, at::Tensor>>& state() const { return state_; }
  /// Whether a training pass draws random numbers.
  virtual bool draws() const { return dropout_ > 0; }
  /// CRC-32C of the file that brings the network, if one does.
  virtual std::optional<std::uint32_t> file_checksum() const { return std::nullopt; }
  /// Whether a network that brings its own layers has batch norm; of the others, run::has_batch_norm() says it.
  virtual bool has_own_batch_norm() const { return false; }
  double dropout() const { return dropout_; }
  void set_dropout(double p) { dropout_ = p; }
  /// Share of a micro batch in batch norm's running statistics, for all further training passes; 0.1 at first.
  void set_batch_norm_momentum(double momentum) { batch_norm_momentum_ = momentum; }
  /// Activation checkpointing of all further training passes: less memory, the same gradients, and about one more
  /// forward pass of work.
  void set_checkpointing(bool on) { checkpointing_ = on; }

protected:
  explicit Model(double dropout) : dropout_(dropout) {}
  /// Registers the layers' tensors in this model's lists.
  LayerContext layer_context(at::Generator generator, c10::Device device);
  at::Tensor drop(const at::Tensor& x, bool training) const;
  /// Runs a part of the network of which, with activation checkpointing, a training pass keeps only the input.
  at::Tensor segment(const at::Tensor& x, bool training, const Segment& run) const;

private:
  at::Tensor add(std::vector<at::Tensor>& list, const std::string& name, at::Tensor tensor);

  std::vector<at::Tensor> parameters_;
  std::vector<at::Tensor> buffers_;
  std::vector<std::pair<std::string, at::Tensor>> state_;
  double dropout_;
  double batch_norm_momentum_ = 0.1;
  bool checkpointing_ = false;
};

/// Builds the model on a device, with weights drawn from `seed`; without one they have no values. The caller has called
/// run::check_fits().
std::unique_ptr<Model> make_model(const run::ModelSpec& spec, const data::ExampleShape& shape, double dropout,
                                  std::optional<std::uint64_t> seed, c10::Device device);

} // namespace batchscope::model
