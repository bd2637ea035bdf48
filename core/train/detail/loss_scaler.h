#pragma once

#include <vector>

#include <ATen/core/Tensor.h>

namespace batchscope::train {

/// Scales the loss so that small gradients are not lost in fp16 (Micikevicius et al. 2018). The scale starts at 65,536,
/// doubles after 2,000 good steps in a row, and is halved by a step whose gradients are not finite, which changes no
/// weight. Scale and finding stay on the device, so nothing waits for it. One thread.
class LossScaler {
public:
  explicit LossScaler(const c10::Device& device);

  /// `gradient` of the loss, scaled.
  at::Tensor scaled(double gradient) const;
  /// Undoes the scale of a whole window's gradients and looks for values that are not finite.
  void unscale(const std::vector<at::Tensor>& gradients);
  /// Result of the last unscale(): 1 if there are such values, else 0; a float on the device, as fused optimizers take
  /// it.
  const at::Tensor& found() const { return found_; }
  /// Adapts the scale, once for each step.
  void update();

  const at::Tensor& scale() const { return scale_; } ///< on the device
  /// Scale and count of good steps in a row.
  std::vector<at::Tensor> state() const { return {scale_, good_steps_}; }

private:
  at::Tensor scale_, good_steps_, found_;
};

} // namespace batchscope::train
