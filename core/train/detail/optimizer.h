#pragma once

#include <memory>
#include <string>
#include <vector>

#include <ATen/core/Tensor.h>

#include "core/run/run_spec.h"

namespace batchscope::train {

/// SGD, Adam or AdamW through LibTorch's fused kernels. The constructor allocates all state, so a step allocates
/// nothing and cannot run out of memory half-way.
class Optimizer {
public:
  virtual ~Optimizer() = default;
  /// Updates the parameters; `gradients` are in the order of the parameters.
  virtual void step(const std::vector<at::Tensor>& gradients, double learning_rate, double weight_decay) = 0;
  /// Everything that a step changes besides the parameters.
  virtual std::vector<at::Tensor> state() const = 0;
};

std::unique_ptr<Optimizer> make_optimizer(const run::RunSpec& spec, const std::vector<at::Tensor>& parameters);

} // namespace batchscope::train
