#pragma once

namespace batchscope::train {

/// Configures LibTorch once per process: deterministic algorithms, so that the same seed gives the same bits.
void apply_torch_settings();

} // namespace batchscope::train
