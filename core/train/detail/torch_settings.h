#pragma once

#include <exception>

namespace batchscope::train {

/// Configures LibTorch once per process: deterministic algorithms, so that the same seed gives the same bits.
void apply_torch_settings();

/// Sets how fp32 operations run on GPUs: in TF32, whose products have 10 bits of mantissa, or exactly. LibTorch's own
/// default is TF32 for convolutions only. Call it before a training, on its thread; it applies to all of the process.
void use_tf32(bool on);

/// Whether LibTorch refused an operator because it has no deterministic implementation, on a GPU.
bool is_for_determinism(const std::exception& error);
/// From now on such operators run, and those that have one still use it. On the thread that trains.
void go_without_determinism();

} // namespace batchscope::train
