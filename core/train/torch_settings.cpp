#include "core/train/detail/torch_settings.h"

#include <ATen/Context.h>

namespace batchscope::train {

void apply_torch_settings() {
  at::Context& context = at::globalContext();
  context.setDeterministicAlgorithms(true, /*warn_only=*/true);
  context.setDeterministicCuDNN(true);
  context.setBenchmarkCuDNN(false); // would select kernels by their momentary speed
  // Filling new memory with NaN, to detect reads of it, is a debugging aid that costs a write of every block.
  context.setDeterministicFillUninitializedMemory(false);
}

} // namespace batchscope::train
