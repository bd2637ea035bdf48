#pragma once

namespace batchscope::train {

/// Sets LibTorch up once for this process: deterministic algorithms, so that the same seed gives the same bits.
void apply_torch_settings();

} // namespace batchscope::train
