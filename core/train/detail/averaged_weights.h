#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include <ATen/core/Tensor.h>

namespace batchscope::train {

/// Exponential moving average of the weights (Polyak averaging), updated once for each optimizer step. The first steps
/// move it faster, by (1 + n) / (10 + n) after n of them, so that it does not stay near the initial weights. One
/// thread.
class AveragedWeights {
public:
  /// Starts from the weights as they are.
  AveragedWeights(const std::vector<at::Tensor>& weights, double decay);

  /// `found` (LossScaler): a device scalar; the average stays as it is if it is 1. Allocates nothing on the device.
  void update(const std::optional<at::Tensor>& found);

  /// While one exists, the model computes with the averaged weights.
  class InUse {
  public:
    explicit InUse(AveragedWeights& averages) : averages_(averages) { averages_.swap(); }
    ~InUse() { averages_.swap(); }
    InUse(const InUse&) = delete;
    InUse& operator=(const InUse&) = delete;

  private:
    AveragedWeights& averages_;
  };

  /// The averages, in the order of the weights, and the number of updates as a scalar on the host.
  std::vector<at::Tensor> state() const;

private:
  void swap();

  std::vector<at::Tensor> weights_, averages_;
  at::Tensor updates_;
  at::Tensor share_; ///< a scalar on the device
  double decay_;
};

} // namespace batchscope::train
