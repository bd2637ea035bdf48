#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "core/estimate/transformer.h"
#include "core/run/run_spec.h"

namespace batchscope::estimate {

/// How a transformer is trained, as far as it determines its memory.
struct Training {
  enum class Precision { fp32, mixed, fp16, int8, int4 };
  enum class Optimizer { adam, adam8bit, momentum, sgd };
  enum class Attention { fused, eager };

  double batch = 1;      ///< examples
  double sequence = 512; ///< tokens
  Precision precision = Precision::fp32;
  Optimizer optimizer = Optimizer::adam;
  Attention attention = Attention::fused;
  bool checkpointing = false;
  double lora_rank = 0; ///< 0: all parameters are trained; else adapters on the query and value projections
  double shards = 1;    ///< ranks over which weights, gradients and optimizer state are divided (ZeRO stage 3, FSDP)
};

/// Returns the training that a run of the engine makes with this batch.
Training training_of(const run::RunSpec& spec, std::int64_t batch);

/// Bytes per device.
struct Estimate {
  double parameters = 0;
  double gradients = 0;
  double optimizer = 0;
  double activations = 0;
  double total() const { return parameters + gradients + optimizer + activations; }
};

/// The rule of thumb that many calculators use: weights, gradients and optimizer state at the precision's
/// bytes, and batch x sequence x width x layers activations. Far too low for the activations of a real transformer.
Estimate rule_of_thumb(const Transformer& model, const Training& training);

/// - Weights and optimizer: fp32 16 bytes a parameter with Adam; mixed precision keeps all that in fp32 and adds a
/// 16-bit
///   copy of the weights; fp16 8; 8-bit Adam 2 bytes of state instead of 8; int8 and int4 weights 1 and 0.5 bytes, of
///   which only adapters are trained.
/// - Activations: s b h (34 + 5 a s / h) bytes a layer in 16 bit (Korthikanti et al. 2022, "Reducing Activation
///   Recomputation in Large Transformer Models"), twice that in 32 bit, without the quadratic part for fused attention;
///   the logits; with checkpointing 2 s b h a layer in 16 bit and one whole layer.
Estimate by_formula(const Transformer& model, const Training& training);

/// Every estimate grows with the batch; larger ones are not looked at.
inline constexpr double largest_computed_batch = 9e15;

/// The largest whole batch whose estimate is within `bytes`; 0 if none is. `estimate` is rule_of_thumb or by_formula.
std::int64_t max_batch(Estimate (*estimate)(const Transformer&, const Training&), const Transformer& model,
                       const Training& training, double bytes);

/// Read from the command line's names; throw Error (input) naming the option.
Training::Precision precision_from(const std::string& text); ///< fp32, mixed, fp16, int8, 4bit
Training::Optimizer optimizer_from(const std::string& text); ///< adam, adamw, adam8bit, momentum, sgd
Training::Attention attention_from(const std::string& text); ///< fused, eager

} // namespace batchscope::estimate
