#include "core/memory/detail/cuda_library.h"

#include <dlfcn.h>

#include <cstdlib>
#include <string>

#include <fmt/format.h>

#include <ATen/Context.h>
#include <c10/core/impl/VirtualGuardImpl.h>
#include <c10/util/Exception.h>
#include <cuda_runtime_api.h>

#include "core/base/text.h"
#include "core/memory/detail/torch_errors.h"

namespace batchscope::memory {

namespace {

constexpr const char* driver_library = "libcuda.so.1";
/// The oldest GPUs that LibTorch's builds for CUDA 13 have kernels for.
constexpr int least_major = 7, least_minor = 5;

bool has_driver() {
  return dlopen(driver_library, RTLD_LAZY | RTLD_LOCAL) != nullptr;
}

bool load_cuda() {
  // cuBLAS is deterministic only with such a workspace; it reads the variable when it starts.
  setenv("CUBLAS_WORKSPACE_CONFIG", ":4096:8", 0);
  return dlopen("libtorch_cuda.so", RTLD_NOW | RTLD_GLOBAL) != nullptr;
}

/// A function of the CUDA runtime that LibTorch has loaded.
template <typename Function> Function* runtime(const char* name) {
  return reinterpret_cast<Function*>(dlsym(RTLD_DEFAULT, name));
}

std::string version_text(int version) {
  constexpr int major = 1000, minor = 10;
  return fmt::format("{}.{}", version / major, version % major / minor);
}

/// Why CUDA names no GPU.
std::string why_none(cudaError_t error) {
  if (error == cudaErrorInsufficientDriver) {
    int driver = 0, needed = 0;
    if (const auto get = runtime<cudaError_t(int*)>("cudaDriverGetVersion"))
      get(&driver);
    if (const auto get = runtime<cudaError_t(int*)>("cudaRuntimeGetVersion"))
      get(&needed);
    return fmt::format("the NVIDIA driver knows CUDA up to {}, and this LibTorch needs CUDA {}: update the driver",
                       version_text(driver), version_text(needed));
  }
  if (const char* visible = std::getenv("CUDA_VISIBLE_DEVICES"))
    return fmt::format("no GPU is visible: CUDA_VISIBLE_DEVICES is {}", in_quotes(visible));
  return "the NVIDIA driver is loaded, but it names no GPU";
}

int attribute(int index, cudaDeviceAttr which, int unknown) {
  int value = unknown;
  if (const auto get = runtime<cudaError_t(int*, cudaDeviceAttr, int)>("cudaDeviceGetAttribute"))
    get(&value, which, index);
  return value;
}

void check_capability(int index) {
  const int major = attribute(index, cudaDevAttrComputeCapabilityMajor, least_major);
  const int minor = attribute(index, cudaDevAttrComputeCapabilityMinor, least_minor);
  if (major < least_major || (major == least_major && minor < least_minor))
    throw gpu_missing(index, fmt::format("its compute capability is {}.{}, and this LibTorch has kernels from {}.{} on",
                                         major, minor, least_major, least_minor));
}

} // namespace

pretended_gpu::Gpu like_gpu(int index) {
  return {.name = "cuda:" + std::to_string(index),
          .capability = 10 * attribute(index, cudaDevAttrComputeCapabilityMajor, least_major) +
                        attribute(index, cudaDevAttrComputeCapabilityMinor, least_minor),
          .multiprocessors = attribute(index, cudaDevAttrMultiProcessorCount, 1)};
}

Error gpu_missing(int index, const std::string& why) {
  return {Error::Kind::unavailable, fmt::format("--device cuda:{}: {}", index, why)};
}

void offer_cuda() {
  if (has_driver())
    load_cuda();
}

void require_cuda(int index) {
  if (!has_driver())
    throw gpu_missing(index, fmt::format("no NVIDIA driver was found ({} cannot be loaded)", driver_library));
  if (!load_cuda())
    throw gpu_missing(index, std::string("LibTorch's CUDA libraries cannot be loaded: ") + dlerror() +
                                 " ('BATCHSCOPE_GPU=yes make setup' installs them)");
  int count = 0;
  cudaError_t error = cudaErrorUnknown;
  if (const auto get = runtime<cudaError_t(int*)>("cudaGetDeviceCount"))
    error = get(&count);
  if (loses_device(error)) {
    const auto text_of = runtime<const char*(cudaError_t)>("cudaGetErrorString");
    throw Error(Error::Kind::device_lost,
                fmt::format("--device cuda:{}: an earlier job has ended with a CUDA error: {}{}", index,
                            text_of != nullptr ? text_of(error) : std::to_string(error), restart_advice));
  }
  if (error != cudaSuccess || count == 0)
    throw gpu_missing(index, why_none(error));
  if (index >= count)
    throw gpu_missing(index, count == 1 ? "available: cuda:0" : fmt::format("available: cuda:0 to cuda:{}", count - 1));
  check_capability(index);
  try {
    if (!at::hasCUDA())
      throw gpu_missing(index, "the NVIDIA driver came after LibTorch had looked for it: start BatchScope again");
    at::globalContext().lazyInitDevice(c10::DeviceType::CUDA);
  } catch (const c10::Error& failure) {
    throw gpu_missing(index, failure.what_without_backtrace());
  }
}

} // namespace batchscope::memory
