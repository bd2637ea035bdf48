#include "core/train/detail/torch_settings.h"

#include <string_view>

#include <ATen/Context.h>
#include <c10/util/Exception.h>
#include <torch/csrc/jit/passes/autocast.h>
#include <torch/csrc/jit/runtime/graph_executor.h>

namespace batchscope::train {

namespace {

constexpr std::string_view not_deterministic = "does not have a deterministic implementation";

/// Drops what LibTorch would print at every call of such an operator.
class WithoutDeterminism final : public c10::WarningHandler {
public:
  void process(const c10::Warning& warning) override {
    if (warning.msg().find(not_deterministic) == std::string::npos)
      c10::WarningHandler::process(warning);
  }
};

} // namespace

void apply_torch_settings() {
  at::Context& context = at::globalContext();
  // Not with warnings only: some operators then choose kernels that are faster and not deterministic.
  context.setDeterministicAlgorithms(true, /*warn_only=*/false);
  context.setDeterministicCuDNN(true);
  context.setBenchmarkCuDNN(false); // would select kernels by their momentary speed
  // Filling new memory with NaN, to detect reads of it, is a debugging aid that costs a write of every block.
  context.setDeterministicFillUninitializedMemory(false);
  // TorchScript as it is written: its optimizer would change the kernels of a step, and with them its memory, after the
  // first ones. Mixed precision is that of LibTorch, for scripts too.
  torch::jit::getProfilingMode() = false;
  torch::jit::setAutocastMode(false);
}

void use_tf32(bool on) {
  const at::Float32Precision precision = on ? at::Float32Precision::TF32 : at::Float32Precision::IEEE;
  for (const at::Float32Op what : {at::Float32Op::CONV, at::Float32Op::RNN, at::Float32Op::MATMUL})
    at::globalContext().setFloat32Precision(at::Float32Backend::CUDA, what, precision);
}

bool is_for_determinism(const std::exception& error) {
  return std::string_view(error.what()).find(not_deterministic) != std::string_view::npos;
}

void go_without_determinism() {
  static WithoutDeterminism handler;
  c10::WarningUtils::set_warning_handler(&handler);
  at::globalContext().setDeterministicAlgorithms(true, /*warn_only=*/true);
}

} // namespace batchscope::train
