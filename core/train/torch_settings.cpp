#include "core/train/detail/torch_settings.h"

#include <ATen/Context.h>
#include <torch/csrc/jit/passes/autocast.h>
#include <torch/csrc/jit/runtime/graph_executor.h>

namespace batchscope::train {

void apply_torch_settings() {
  at::Context& context = at::globalContext();
  context.setDeterministicAlgorithms(true, /*warn_only=*/true);
  context.setDeterministicCuDNN(true);
  context.setBenchmarkCuDNN(false); // would select kernels by their momentary speed
  // Filling new memory with NaN, to detect reads of it, is a debugging aid that costs a write of every block.
  context.setDeterministicFillUninitializedMemory(false);
  // TorchScript as it is written: its optimizer would change the kernels of a step, and with them its memory, after the
  // first ones. Mixed precision is that of LibTorch, for scripts too.
  torch::jit::getProfilingMode() = false;
  torch::jit::setAutocastMode(false);
}

} // namespace batchscope::train
