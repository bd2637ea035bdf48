#include "core/train/detail/averaged_weights.h"

#include <algorithm>

#include <ATen/TensorOperators.h>
#include <ATen/core/Tensor.h>
#include <ATen/core/grad_mode.h>
#include <ATen/ops/_foreach_lerp.h>
#include <ATen/ops/zeros.h>

#include "core/memory/detail/budget_allocator.h"

namespace batchscope::train {

AveragedWeights::AveragedWeights(const std::vector<at::Tensor>& weights, double decay)
    : weights_(weights), decay_(decay) {
  for (const at::Tensor& weight : weights_)
    averages_.push_back(weight.detach().clone());
  share_ = at::zeros({}, weights_.front().options().requires_grad(false));
  const memory::NotCounted own;
  updates_ = at::zeros({}, at::kLong);
}

void AveragedWeights::update(const std::optional<at::Tensor>& found) {
  const at::NoGradGuard no_grad;
  auto& updates = *updates_.mutable_data_ptr<std::int64_t>();
  const auto n = static_cast<double>(++updates);
  const double share = 1 - std::min(decay_, (1 + n) / (10 + n));
  if (!found) {
    at::_foreach_lerp_(averages_, weights_, share);
    return;
  }
  share_.copy_(*found).mul_(-share).add_(share); // 0 if the weights have not moved
  for (std::size_t i = 0; i < averages_.size(); ++i)
    averages_[i].lerp_(weights_[i], share_);
}

void AveragedWeights::swap() {
  for (std::size_t i = 0; i < weights_.size(); ++i) {
    const at::Tensor trained = weights_[i].detach(); // shares the memory
    weights_[i].set_data(averages_[i]);
    averages_[i] = trained;
  }
}

std::vector<at::Tensor> AveragedWeights::state() const {
  std::vector<at::Tensor> all = averages_;
  all.push_back(updates_);
  return all;
}

} // namespace batchscope::train
