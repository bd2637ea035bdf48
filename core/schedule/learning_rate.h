#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "core/schedule/gradient_noise.h"

namespace batchscope::schedule {

enum class LearningRateRule { none, linear, square_root, adascale };
enum class LearningRateDecay { constant, cosine, linear, step };
enum class RegularizationRule { none, square_root };

struct LearningRateOptions {
  double base = 0.001; ///< at reference_batch
  LearningRateRule rule = LearningRateRule::none;
  std::int64_t reference_batch = 1; ///< B_ref, an effective batch
  LearningRateDecay decay = LearningRateDecay::constant;
  std::int64_t warmup_steps = 0;
};

/// base * (B/B_ref), base * sqrt(B/B_ref), base * the gain of AdaScale at B/B_ref, or base unchanged; B is the nominal
/// effective batch b*k*R.
double scaled_rate(double base, LearningRateRule rule, std::int64_t effective_batch, std::int64_t reference_batch,
                   const GradientNoise& noise = {});

/// Learning rate of each step: scaled by the rule, then linear warm-up from 0 (`lr * step / warmup`, `step` 0 for the
/// first step), then decay over the progress that remains after the warm-up. Call next() for the steps in order.
class LearningRate {
public:
  /// `progress_after_warmup`: of a run that goes on from a checkpoint.
  explicit LearningRate(const LearningRateOptions& options, std::optional<double> progress_after_warmup = std::nullopt)
      : options_(options), progress_after_warmup_(progress_after_warmup) {}

  /// Learning rate of the next step. `step` counts from 0; `progress` (0..1) is that at the start of the step.
  double next(std::int64_t step, double progress, std::int64_t effective_batch, const GradientNoise& noise = {});
  /// Progress at which the warm-up ended and the decay began; nothing before.
  std::optional<double> progress_after_warmup() const { return progress_after_warmup_; }

private:
  LearningRateOptions options_;
  std::optional<double> progress_after_warmup_;
};

/// `--warmup auto`, in steps: 0 if `scale` is at most 2, else the larger of 5 % of the steps and 100*log2(scale).
/// `scale` = effective batch / reference batch.
std::int64_t automatic_warmup(double scale, std::int64_t expected_steps);

/// weight decay * sqrt(B/B_ref), or unchanged.
double scaled_weight_decay(double weight_decay, RegularizationRule rule, std::int64_t effective_batch,
                           std::int64_t reference_batch);
/// min(p * sqrt(B/B_ref), max(p, 0.5)), or unchanged.
double scaled_dropout(double p, RegularizationRule rule, std::int64_t effective_batch, std::int64_t reference_batch);
/// Share of a micro batch in the running statistics of batch norm: 0.1 up to 1,024 examples, above in inverse
/// proportion.
double scaled_batch_norm_momentum(std::int64_t micro_batch);

/// `none`, `linear`, `sqrt`, `adascale`; throws Error (input) listing these, as do the next two.
LearningRateRule parse_rule(const std::string& text);
/// `constant`, `cosine`, `linear`, `step`.
LearningRateDecay parse_decay(const std::string& text);
/// `none`, `sqrt`.
RegularizationRule parse_regularization(const std::string& text);

} // namespace batchscope::schedule
