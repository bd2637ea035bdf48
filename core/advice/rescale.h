#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace batchscope::advice {

/// Changes of scale from which a warm-up is needed, and from which training may diverge without it.
inline constexpr double scale_that_needs_warmup = 8;
inline constexpr double scale_that_diverges = 16;

/// Sizes of one optimizer step; each at least 1.
struct StepSizes {
  std::int64_t batch = 1; ///< examples per rank and accumulation step
  std::int64_t accumulate = 1;
  std::int64_t ranks = 1; ///< data-parallel

  std::int64_t effective() const { return batch * accumulate * ranks; }
};

/// `32,1,1` for batch 32, accumulation 1, 1 rank; throws Error (input) naming `option`, also for an effective batch
/// above 10^12.
StepSizes parse_sizes(const std::string& text, const std::string& option);

/// A recipe that was tuned at one effective batch. What is not set is not known.
struct Recipe {
  StepSizes sizes;
  double learning_rate = 0;          ///< above 0
  std::string optimizer;             ///< sgd, adam or adamw; empty if unknown
  std::string rule;                  ///< none, linear, sqrt or adascale; empty: sqrt for adam and adamw, else linear
  std::optional<double> noise_scale; ///< of the gradient, in examples; adascale needs it
  std::optional<double> weight_decay, dropout, ema;
  std::optional<double> momentum;                         ///< sgd
  double beta1 = 0.9, beta2 = 0.999, epsilon = 1e-8;      ///< adam and adamw
  std::optional<std::int64_t> examples, epochs, steps;    ///< of the training set; length of the training
  std::optional<std::int64_t> warmup;                     ///< steps
  std::optional<std::int64_t> evaluate_every, save_every; ///< steps
};

/// `32,1,1,0.1` as above, with the learning rate; throws Error (input) naming `option`.
Recipe parse_recipe(const std::string& text, const std::string& option);

/// Another value for a setting, by a source that differs from the one that is used.
struct OtherValue {
  std::optional<double> value;
  std::string rule;
  std::string source;
};

/// A setting of the recipe at the new effective batch.
struct RescaledValue {
  std::string key;   ///< `learning_rate`
  std::string title; ///< `Learning rate`
  std::optional<double> from, to;
  double factor = 1;  ///< to / from by the rule, also if the setting is not known
  std::string rule;   ///< `x 4, linear in the effective batch`
  std::string caveat; ///< when the rule fails, one sentence
  std::string source;
  std::vector<OtherValue> others;
};

struct Rescaled {
  StepSizes from, to;
  double scale = 1; ///< new effective batch / old one
  std::vector<RescaledValue> values;
};

/// Moves the recipe to other sizes. Learning rate, warm-up, weight decay, steps per epoch and the two intervals are
/// always among the values, the others where the recipe has them. Throws Error (input) for an unknown rule or
/// optimizer.
Rescaled rescale(const Recipe& recipe, const StepSizes& to);

} // namespace batchscope::advice
