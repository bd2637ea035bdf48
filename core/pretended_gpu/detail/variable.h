#pragma once

namespace batchscope::pretended_gpu {

/// The environment variable that says what the pretended GPUs are: `name=value` in each line.
inline constexpr const char* variable = "BATCHSCOPE_PRETENDED_GPU";

} // namespace batchscope::pretended_gpu
