#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include <ATen/core/Tensor.h>

#include "core/run/run_spec.h"

namespace batchscope::train {

/// SGD, Adam or AdamW through LibTorch's fused kernels, or RMSprop. The constructor allocates all state and all that a
/// step computes with, so a step allocates nothing on the device and cannot run out of memory half-way. That costs the
/// memory of two scalars, for RMSprop also that of the largest parameter.
class Optimizer {
public:
  virtual ~Optimizer() = default;
  /// Updates the parameters; `gradients` are in the order of the parameters. With `found` (LossScaler), the device
  /// leaves everything as it is if that is 1.
  virtual void step(const std::vector<at::Tensor>& gradients, double learning_rate, double weight_decay,
                    const std::optional<at::Tensor>& found) = 0;
  /// Everything that a step changes besides the parameters.
  virtual std::vector<at::Tensor> state() const = 0;
};

std::unique_ptr<Optimizer> make_optimizer(const run::RunSpec& spec, const std::vector<at::Tensor>& parameters);

} // namespace batchscope::train
