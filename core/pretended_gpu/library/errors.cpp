#include "core/pretended_gpu/library/errors.h"

#include <array>

#include "core/pretended_gpu/library/gpus.h"

using batchscope::pretended_gpu::Gpus;

namespace {

thread_local cudaError_t last = cudaSuccess;

struct Text {
  cudaError_t error;
  const char* name;
  const char* text;
};

/// As CUDA's runtime has them.
constexpr std::array texts{
    Text{cudaSuccess, "cudaSuccess", "no error"},
    Text{cudaErrorInvalidValue, "cudaErrorInvalidValue", "invalid argument"},
    Text{cudaErrorMemoryAllocation, "cudaErrorMemoryAllocation", "out of memory"},
    Text{cudaErrorInsufficientDriver, "cudaErrorInsufficientDriver",
         "CUDA driver version is insufficient for CUDA runtime version"},
    Text{cudaErrorNoDevice, "cudaErrorNoDevice", "no CUDA-capable device is detected"},
    Text{cudaErrorInvalidDevice, "cudaErrorInvalidDevice", "invalid device ordinal"},
    Text{cudaErrorInvalidResourceHandle, "cudaErrorInvalidResourceHandle", "invalid resource handle"},
    Text{cudaErrorECCUncorrectable, "cudaErrorECCUncorrectable", "uncorrectable ECC error encountered"},
    Text{cudaErrorIllegalAddress, "cudaErrorIllegalAddress", "an illegal memory access was encountered"},
    Text{cudaErrorLaunchTimeout, "cudaErrorLaunchTimeout", "the launch timed out and was terminated"},
    Text{cudaErrorAssert, "cudaErrorAssert", "device-side assert triggered"},
    Text{cudaErrorLaunchFailure, "cudaErrorLaunchFailure", "unspecified launch failure"},
    Text{cudaErrorNotSupported, "cudaErrorNotSupported", "operation not supported"},
};

const Text* find(cudaError_t error) {
  for (const Text& text : texts) {
    if (text.error == error)
      return &text;
  }
  return nullptr;
}

} // namespace

cudaError_t reported(cudaError_t error) {
  if (const int broken = Gpus::instance().broken())
    error = static_cast<cudaError_t>(broken);
  if (error != cudaSuccess)
    last = error;
  return error;
}

extern "C" {

cudaError_t cudaGetLastError() {
  const cudaError_t error = cudaPeekAtLastError();
  last = cudaSuccess;
  return error;
}

cudaError_t cudaPeekAtLastError() {
  const int broken = Gpus::instance().broken();
  return broken != 0 ? static_cast<cudaError_t>(broken) : last;
}

const char* cudaGetErrorName(cudaError_t error) {
  const Text* text = find(error);
  return text != nullptr ? text->name : "cudaErrorUnknown";
}

const char* cudaGetErrorString(cudaError_t error) {
  const Text* text = find(error);
  return text != nullptr ? text->text : "unrecognized error code";
}
}
