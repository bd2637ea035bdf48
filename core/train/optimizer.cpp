#include "core/train/detail/optimizer.h"

#include <algorithm>

#include <ATen/TensorOperators.h>
#include <ATen/core/Tensor.h>
#include <ATen/core/grad_mode.h>
#include <ATen/ops/_foreach_add.h>
#include <ATen/ops/_foreach_sub.h>
#include <ATen/ops/_fused_adam.h>
#include <ATen/ops/_fused_adamw.h>
#include <ATen/ops/_fused_sgd.h>
#include <ATen/ops/empty.h>
#include <ATen/ops/mul.h>
#include <ATen/ops/sqrt.h>
#include <ATen/ops/zeros.h>
#include <ATen/ops/zeros_like.h>

namespace batchscope::train {

namespace {

constexpr double adam_beta1 = 0.9;
constexpr double adam_beta2 = 0.999;
constexpr double adam_epsilon = 1e-8;
constexpr double rmsprop_smoothing = 0.99;
constexpr double rmsprop_epsilon = 1e-8;

std::vector<at::Tensor> zeros_like_all(const std::vector<at::Tensor>& tensors) {
  std::vector<at::Tensor> zeros;
  zeros.reserve(tensors.size());
  for (const at::Tensor& tensor : tensors)
    zeros.push_back(at::zeros_like(tensor));
  return zeros;
}

class Sgd final : public Optimizer {
public:
  Sgd(const std::vector<at::Tensor>& parameters, double momentum) : parameters_(parameters), momentum_(momentum) {
    if (momentum_ > 0)
      buffers_ = zeros_like_all(parameters_);
  }
  void step(const std::vector<at::Tensor>& gradients, double learning_rate, double weight_decay,
            const std::optional<at::Tensor>& found) override {
    // Buffers initialized to zero give the same first step as buffers initialized to the first gradient.
    at::_fused_sgd_(parameters_, gradients, buffers_, weight_decay, momentum_, learning_rate, /*dampening=*/0.0,
                    /*nesterov=*/false, /*maximize=*/false, /*is_first_step=*/false, /*grad_scale=*/{}, found);
  }
  std::vector<at::Tensor> state() const override { return buffers_; }

private:
  std::vector<at::Tensor> parameters_, buffers_;
  double momentum_;
};

class Adam final : public Optimizer {
public:
  Adam(const std::vector<at::Tensor>& parameters, bool decoupled)
      : parameters_(parameters), means_(zeros_like_all(parameters)), squares_(zeros_like_all(parameters)),
        decoupled_(decoupled) {
    for (const at::Tensor& parameter : parameters_)
      steps_.push_back(at::zeros({}, parameter.options().requires_grad(false)));
  }
  void step(const std::vector<at::Tensor>& gradients, double learning_rate, double weight_decay,
            const std::optional<at::Tensor>& found) override {
    at::_foreach_add_(steps_, 1);
    if (found)
      at::_foreach_sub_(steps_, std::vector(steps_.size(), *found));
    const auto update = decoupled_ ? static_cast<Kernel>(at::_fused_adamw_) : static_cast<Kernel>(at::_fused_adam_);
    update(parameters_, gradients, means_, squares_, /*max_exp_avg_sqs=*/{}, steps_, learning_rate, adam_beta1,
           adam_beta2, weight_decay, adam_epsilon, /*amsgrad=*/false, /*maximize=*/false, /*grad_scale=*/{}, found);
  }
  std::vector<at::Tensor> state() const override {
    std::vector<at::Tensor> all = means_;
    all.insert(all.end(), squares_.begin(), squares_.end());
    all.insert(all.end(), steps_.begin(), steps_.end());
    return all;
  }

private:
  using Kernel = void (*)(at::TensorList, at::TensorList, at::TensorList, at::TensorList, at::TensorList,
                          at::TensorList, double, double, double, double, double, bool, bool,
                          const std::optional<at::Tensor>&, const std::optional<at::Tensor>&);

  std::vector<at::Tensor> parameters_, means_, squares_, steps_;
  bool decoupled_; ///< AdamW: weight decay is separate from the gradient
};

class RmsProp final : public Optimizer {
public:
  explicit RmsProp(const std::vector<at::Tensor>& parameters)
      : parameters_(parameters), squares_(zeros_like_all(parameters)) {
    std::int64_t largest = 0;
    for (const at::Tensor& parameter : parameters_)
      largest = std::max(largest, parameter.numel());
    const auto options = parameters_.front().options().requires_grad(false);
    scratch_ = at::empty({largest}, options);
    share_ = at::zeros({}, options);
    overflowed_ = at::zeros({}, options.dtype(at::kBool));
  }
  void step(const std::vector<at::Tensor>& gradients, double learning_rate, double weight_decay,
            const std::optional<at::Tensor>& found) override {
    const double share = 1 - rmsprop_smoothing;
    if (found) {
      overflowed_.copy_(*found);
      share_.copy_(*found).mul_(-share).add_(share); // 0 if there is nothing to learn from
    }
    for (std::size_t i = 0; i < parameters_.size(); ++i) {
      const at::Tensor& gradient = gradients[i];
      at::Tensor scratch = scratch_.narrow(0, 0, gradient.numel()).view(gradient.sizes());
      if (weight_decay > 0)
        gradient.add_(parameters_[i], weight_decay);
      if (found)
        gradient.masked_fill_(overflowed_, 0);
      at::mul_out(scratch, gradient, gradient);
      if (found)
        squares_[i].lerp_(scratch, share_);
      else
        squares_[i].lerp_(scratch, share);
      at::sqrt_out(scratch, squares_[i]).add_(rmsprop_epsilon);
      parameters_[i].addcdiv_(gradient, scratch, -learning_rate);
    }
  }
  std::vector<at::Tensor> state() const override { return squares_; }

private:
  std::vector<at::Tensor> parameters_, squares_;
  // So that a step allocates nothing:
  at::Tensor scratch_;            ///< of the largest parameter's size
  at::Tensor share_, overflowed_; ///< scalars
};

} // namespace

std::unique_ptr<Optimizer> make_optimizer(const run::RunSpec& spec, const std::vector<at::Tensor>& parameters) {
  const at::NoGradGuard no_grad;
  if (spec.optimizer == "sgd")
    return std::make_unique<Sgd>(parameters, run::momentum_or_default(spec));
  if (spec.optimizer == "rmsprop")
    return std::make_unique<RmsProp>(parameters);
  return std::make_unique<Adam>(parameters, spec.optimizer == "adamw");
}

} // namespace batchscope::train
