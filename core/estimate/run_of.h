#pragma once

#include <cstdint>
#include <optional>

#include "core/estimate/formula.h"
#include "core/run/run_spec.h"

namespace batchscope::estimate {

inline constexpr std::int64_t default_vocabulary = 50'257; ///< of GPT-2

/// The same training as a run of the engine, which keeps all weights in fp32 and trains them, with fused attention, on
/// data that are made up, take no memory, and lack their number of examples; nothing for any other.
std::optional<run::RunSpec> run_of(const Transformer& model, const Training& training);

/// A GPT of these sizes, with all parameters counted: positions are learned. Throws Error (input) for sizes that
/// parse_model() does not take.
Transformer gpt_of(std::int64_t layers, std::int64_t width, std::int64_t heads, std::int64_t vocabulary,
                   std::int64_t positions);

} // namespace batchscope::estimate
