#include "core/schedule/learning_rate.h"

#include <algorithm>
#include <cmath>
#include <numbers>

#include <fmt/format.h>

#include "core/base/error.h"
#include "core/base/text.h"

namespace batchscope::schedule {

namespace {

double scale_of(std::int64_t effective_batch, std::int64_t reference_batch) {
  return static_cast<double>(effective_batch) / static_cast<double>(reference_batch);
}

/// Factor of the decay at a fraction (0..1) of the way after the warm-up.
double decay_factor(LearningRateDecay decay, double fraction) {
  switch (decay) {
  case LearningRateDecay::constant:
    return 1;
  case LearningRateDecay::cosine:
    return (1 + std::cos(std::numbers::pi * fraction)) / 2;
  case LearningRateDecay::linear:
    return 1 - fraction;
  case LearningRateDecay::step:
    // The small addend keeps a third that was rounded down from counting as the previous stage.
    return std::pow(0.1, std::clamp(std::floor(3 * fraction + 1e-9), 0.0, 2.0));
  }
  return 1;
}

Error unknown(const char* what, const std::string& given, const char* accepted) {
  return input_error(fmt::format("unknown {} '{}'; accepted: {}", what, shortened(given), accepted));
}

} // namespace

double scaled_rate(double base, LearningRateRule rule, std::int64_t effective_batch, std::int64_t reference_batch,
                   const GradientNoise& noise) {
  switch (rule) {
  case LearningRateRule::none:
    return base;
  case LearningRateRule::linear:
    return base * scale_of(effective_batch, reference_batch);
  case LearningRateRule::square_root:
    return base * std::sqrt(scale_of(effective_batch, reference_batch));
  case LearningRateRule::adascale:
    return base * noise.gain(scale_of(effective_batch, reference_batch), reference_batch);
  }
  return base;
}

double LearningRate::next(std::int64_t step, double progress, std::int64_t effective_batch,
                          const GradientNoise& noise) {
  const double rate = scaled_rate(options_.base, options_.rule, effective_batch, options_.reference_batch, noise);
  if (step < options_.warmup_steps)
    return rate * static_cast<double>(step) / static_cast<double>(options_.warmup_steps);
  if (!progress_after_warmup_)
    progress_after_warmup_ = progress;
  const double way = 1 - *progress_after_warmup_;
  const double fraction = way > 0 ? std::clamp((progress - *progress_after_warmup_) / way, 0.0, 1.0) : 0;
  return rate * decay_factor(options_.decay, fraction);
}

std::int64_t automatic_warmup(double scale, std::int64_t expected_steps) {
  if (!(scale > 2))
    return 0;
  const double share_of_run = std::ceil(0.05 * static_cast<double>(expected_steps));
  const double by_scale = std::ceil(100 * std::log2(scale));
  return static_cast<std::int64_t>(std::max(share_of_run, by_scale));
}

double scaled_weight_decay(double weight_decay, RegularizationRule rule, std::int64_t effective_batch,
                           std::int64_t reference_batch) {
  if (rule == RegularizationRule::none)
    return weight_decay;
  return weight_decay * std::sqrt(scale_of(effective_batch, reference_batch));
}

double scaled_dropout(double p, RegularizationRule rule, std::int64_t effective_batch, std::int64_t reference_batch) {
  if (rule == RegularizationRule::none)
    return p;
  return std::min(p * std::sqrt(scale_of(effective_batch, reference_batch)), std::max(p, 0.5));
}

double scaled_batch_norm_momentum(std::int64_t micro_batch) {
  constexpr double momentum = 0.1;
  constexpr double large = 1024;
  return momentum * std::min(1.0, large / static_cast<double>(micro_batch));
}

LearningRateRule parse_rule(const std::string& text) {
  if (text == "none")
    return LearningRateRule::none;
  if (text == "linear")
    return LearningRateRule::linear;
  if (text == "sqrt")
    return LearningRateRule::square_root;
  if (text == "adascale")
    return LearningRateRule::adascale;
  throw unknown("learning-rate rule", text, "none, linear, sqrt, adascale");
}

LearningRateDecay parse_decay(const std::string& text) {
  if (text == "constant")
    return LearningRateDecay::constant;
  if (text == "cosine")
    return LearningRateDecay::cosine;
  if (text == "linear")
    return LearningRateDecay::linear;
  if (text == "step")
    return LearningRateDecay::step;
  throw unknown("learning-rate decay", text, "constant, cosine, linear, step");
}

RegularizationRule parse_regularization(const std::string& text) {
  if (text == "none")
    return RegularizationRule::none;
  if (text == "sqrt")
    return RegularizationRule::square_root;
  throw unknown("regularization rule", text, "none, sqrt");
}

} // namespace batchscope::schedule
