#pragma once

#include <string>

#include "core/base/error.h"
#include "core/pretended_gpu/rig.h"

namespace batchscope::memory {

/// Loads LibTorch's CUDA library if the machine has an NVIDIA driver. Call it before LibTorch is asked anything: it
/// looks once, at its first question of any kind, whether that library is there, and without it no GPU can be used as
/// long as the process lives. What fails is told by require_cuda().
void offer_cuda();

/// Throws Error (unavailable), naming the option --device cuda:`index` and what is missing, unless LibTorch can use
/// that GPU.
void require_cuda(int index);

/// One like that GPU, which is loaded, as far as kernels depend on it.
pretended_gpu::Gpu like_gpu(int index);

/// The Error (unavailable) about that GPU.
Error gpu_missing(int index, const std::string& why);

} // namespace batchscope::memory
