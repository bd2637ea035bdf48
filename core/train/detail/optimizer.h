#pragma once

#include <memory>
#include <string>
#include <vector>

#include <ATen/core/Tensor.h>

#include "core/train/run_spec.h"

namespace batchscope::train {

/// SGD, Adam or AdamW through LibTorch's fused kernels. All state is allocated when it is made, so that a step
/// allocates nothing and cannot run out of memory half-way.
class Optimizer {
public:
  virtual ~Optimizer() = default;
  /// Moves the parameters; `gradients` in the order of the parameters.
  virtual void step(const std::vector<at::Tensor>& gradients, double learning_rate, double weight_decay) = 0;
  /// Everything that a step moves besides the parameters.
  virtual std::vector<at::Tensor> state() const = 0;
};

std::unique_ptr<Optimizer> make_optimizer(const RunSpec& spec, const std::vector<at::Tensor>& parameters);

/// Settings that the spec leaves to the optimizer: 0.1 for sgd, else 0.001; 0.01 for adamw, else 0.
double learning_rate_or_default(const RunSpec& spec);
double weight_decay_or_default(const RunSpec& spec);

} // namespace batchscope::train
