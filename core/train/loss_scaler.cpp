#include "core/train/detail/loss_scaler.h"

#include <ATen/TensorOperators.h>
#include <ATen/core/Tensor.h>
#include <ATen/ops/_amp_foreach_non_finite_check_and_unscale.h>
#include <ATen/ops/_amp_update_scale.h>
#include <ATen/ops/full.h>
#include <ATen/ops/reciprocal.h>
#include <ATen/ops/zeros.h>

namespace batchscope::train {

namespace {

constexpr double first_scale = 65536;
constexpr double growth = 2;
constexpr double backoff = 0.5;
constexpr std::int64_t steps_to_growth = 2000;

} // namespace

LossScaler::LossScaler(const c10::Device& device)
    : scale_(at::full({}, first_scale, at::TensorOptions(at::kFloat).device(device))),
      good_steps_(at::zeros({}, at::TensorOptions(at::kInt).device(device))),
      found_(at::zeros({}, at::TensorOptions(at::kFloat).device(device))) {}

at::Tensor LossScaler::scaled(double gradient) const {
  return scale_ * gradient;
}

void LossScaler::unscale(const std::vector<at::Tensor>& gradients) {
  found_.zero_();
  at::_amp_foreach_non_finite_check_and_unscale_(gradients, found_, scale_.reciprocal());
}

void LossScaler::update() {
  at::_amp_update_scale_(scale_, good_steps_, found_, growth, backoff, steps_to_growth);
}

} // namespace batchscope::train
