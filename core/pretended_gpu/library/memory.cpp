// CUDA's runtime: devices, memory and copies.
#include <cuda_runtime_api.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>

#include "core/pretended_gpu/library/errors.h"
#include "core/pretended_gpu/library/gpus.h"

using namespace batchscope::pretended_gpu;

namespace {

/// Limits of a card of this kind, from NVIDIA's tables ("Compute Capabilities" in the CUDA C++ Programming Guide).
struct Limits {
  int threads;               ///< of a multiprocessor
  std::size_t shared;        ///< bytes of shared memory of a multiprocessor
  std::size_t shared_opt_in; ///< bytes of it that one block can ask for
  std::size_t l2;            ///< bytes
  int blocks;                ///< of a multiprocessor
};

Limits limits() {
  constexpr std::size_t kib = 1024;
  switch (Gpus::instance().description().capability) {
  case 75:
    return {1024, 64 * kib, 64 * kib, 4096 * kib, 16};
  case 80:
    return {2048, 164 * kib, 163 * kib, 40960 * kib, 32};
  case 86:
    return {1536, 100 * kib, 99 * kib, 6144 * kib, 16};
  case 89:
  case 120:
  case 121:
    return {1536, 100 * kib, 99 * kib, 6144 * kib, 24};
  default:
    return {2048, 228 * kib, 227 * kib, 51200 * kib, 32};
  }
}

constexpr int threads_of_a_block = 1024;
constexpr int registers = 65536;
constexpr std::size_t constants = 64 * 1024;         ///< bytes
constexpr std::size_t shared_of_a_block = 48 * 1024; ///< bytes, if no more is asked for
constexpr int grid_x = 2147483647, grid_yz = 65535;

thread_local int current = 0;

} // namespace

int current_device() {
  return current;
}

extern "C" {

cudaError_t cudaGetDeviceCount(int* count) {
  constexpr int major = 1000; // of a version; a driver knows all minor ones of its own
  *count = 0;
  if (Gpus::instance().description().driver / major < CUDART_VERSION / major)
    return reported(cudaErrorInsufficientDriver);
  *count = Gpus::instance().description().count;
  return *count > 0 ? reported(cudaSuccess) : reported(cudaErrorNoDevice);
}

cudaError_t cudaGetDevice(int* device) {
  *device = current;
  return cudaSuccess;
}

cudaError_t cudaSetDevice(int device) {
  if (!Gpus::instance().has(device))
    return reported(cudaErrorInvalidDevice);
  current = device;
  return reported(cudaSuccess);
}

cudaError_t cudaGetDeviceProperties(cudaDeviceProp* properties, int device) {
  const Description& description = Gpus::instance().description();
  if (!Gpus::instance().has(device))
    return reported(cudaErrorInvalidDevice);
  const Limits of = limits();
  *properties = {};
  std::snprintf(properties->name, sizeof properties->name, "%s", description.name.c_str());
  properties->totalGlobalMem = description.memory;
  properties->major = description.capability / 10;
  properties->minor = description.capability % 10;
  properties->multiProcessorCount = description.multiprocessors;
  properties->sharedMemPerBlock = shared_of_a_block;
  properties->sharedMemPerBlockOptin = of.shared_opt_in;
  properties->sharedMemPerMultiprocessor = of.shared;
  properties->regsPerBlock = properties->regsPerMultiprocessor = registers;
  properties->warpSize = 32;
  properties->maxThreadsPerBlock = threads_of_a_block;
  properties->maxThreadsPerMultiProcessor = of.threads;
  properties->maxBlocksPerMultiProcessor = of.blocks;
  properties->reservedSharedMemPerBlock = of.shared - of.shared_opt_in;
  properties->totalConstMem = constants;
  properties->unifiedAddressing = properties->managedMemory = properties->concurrentKernels = 1;
  properties->canMapHostMemory = properties->cooperativeLaunch = 1;
  properties->asyncEngineCount = 2;
  properties->maxThreadsDim[0] = properties->maxThreadsDim[1] = threads_of_a_block;
  properties->maxThreadsDim[2] = 64;
  properties->maxGridSize[0] = grid_x;
  properties->maxGridSize[1] = properties->maxGridSize[2] = grid_yz;
  properties->l2CacheSize = static_cast<int>(of.l2);
  properties->textureAlignment = 512;
  properties->pciBusID = device + 1;
  std::memset(properties->uuid.bytes, device + 1, sizeof properties->uuid.bytes);
  return reported(cudaSuccess);
}

cudaError_t cudaDeviceGetAttribute(int* value, cudaDeviceAttr attribute, int device) {
  const Description& description = Gpus::instance().description();
  if (!Gpus::instance().has(device))
    return reported(cudaErrorInvalidDevice);
  const Limits of = limits();
  switch (attribute) {
  case cudaDevAttrMultiProcessorCount:
    *value = description.multiprocessors;
    break;
  case cudaDevAttrComputeCapabilityMajor:
    *value = description.capability / 10;
    break;
  case cudaDevAttrComputeCapabilityMinor:
    *value = description.capability % 10;
    break;
  case cudaDevAttrMaxSharedMemoryPerBlockOptin:
    *value = static_cast<int>(of.shared_opt_in);
    break;
  case cudaDevAttrMaxSharedMemoryPerBlock:
    *value = static_cast<int>(shared_of_a_block);
    break;
  case cudaDevAttrMaxSharedMemoryPerMultiprocessor:
    *value = static_cast<int>(of.shared);
    break;
  case cudaDevAttrMaxRegistersPerBlock:
  case cudaDevAttrMaxRegistersPerMultiprocessor:
    *value = registers;
    break;
  case cudaDevAttrMaxThreadsPerBlock:
    *value = threads_of_a_block;
    break;
  case cudaDevAttrMaxThreadsPerMultiProcessor:
    *value = of.threads;
    break;
  case cudaDevAttrL2CacheSize:
    *value = static_cast<int>(of.l2);
    break;
  case cudaDevAttrWarpSize:
    *value = 32;
    break;
  case cudaDevAttrMaxGridDimX:
    *value = grid_x;
    break;
  case cudaDevAttrMaxGridDimY:
  case cudaDevAttrMaxGridDimZ:
    *value = grid_yz;
    break;
  default:
    *value = 1;
  }
  return reported(cudaSuccess);
}

cudaError_t cudaDeviceGetPCIBusId(char* text, int size, int device) {
  std::snprintf(text, static_cast<std::size_t>(size), "0000:%02x:00.0", static_cast<unsigned>(device) + 1);
  return reported(cudaSuccess);
}

cudaError_t cudaDeviceCanAccessPeer(int* can, int, int) {
  *can = 0;
  return reported(cudaSuccess);
}

cudaError_t cudaDriverGetVersion(int* version) {
  *version = Gpus::instance().description().driver;
  return cudaSuccess;
}

cudaError_t cudaRuntimeGetVersion(int* version) {
  *version = CUDART_VERSION;
  return cudaSuccess;
}

cudaError_t cudaMemGetInfo(std::size_t* free, std::size_t* total) {
  *total = Gpus::instance().description().memory;
  *free = Gpus::instance().free_bytes(current);
  Gpus::instance().count([](Counts& counts) { ++counts.memory_queries; });
  return reported(cudaSuccess);
}

cudaError_t cudaMalloc(void** data, std::size_t bytes) {
  *data = nullptr;
  if (const int error = Gpus::instance().broken())
    return reported(static_cast<cudaError_t>(error));
  *data = Gpus::instance().allocate(current, bytes);
  return reported(*data != nullptr ? cudaSuccess : cudaErrorMemoryAllocation);
}

cudaError_t cudaFree(void* data) {
  Gpus::instance().free(data);
  return reported(cudaSuccess);
}

cudaError_t cudaMallocAsync(void** data, std::size_t bytes, cudaStream_t) {
  return cudaMalloc(data, bytes);
}

cudaError_t cudaFreeAsync(void* data, cudaStream_t) {
  return cudaFree(data);
}

cudaError_t cudaMallocManaged(void** data, std::size_t bytes, unsigned) {
  return cudaMalloc(data, bytes);
}

cudaError_t cudaHostAlloc(void** data, std::size_t bytes, unsigned) {
  constexpr std::size_t page = 4096; // bytes
  *data = std::aligned_alloc(page, (bytes + page - 1) / page * page);
  return reported(*data != nullptr ? cudaSuccess : cudaErrorMemoryAllocation);
}

cudaError_t cudaMallocHost(void** data, std::size_t bytes) {
  return cudaHostAlloc(data, bytes, 0);
}

cudaError_t cudaFreeHost(void* data) {
  std::free(data);
  return reported(cudaSuccess);
}

cudaError_t cudaPointerGetAttributes(cudaPointerAttributes* attributes, const void* data) {
  const int device = Gpus::instance().device_of(data);
  *attributes = {};
  attributes->type = device >= 0 ? cudaMemoryTypeDevice : cudaMemoryTypeUnregistered;
  attributes->device = device;
  if (device >= 0)
    attributes->devicePointer = const_cast<void*>(data);
  else
    attributes->hostPointer = const_cast<void*>(data);
  return reported(cudaSuccess);
}

cudaError_t cudaMemcpyAsync(void* to, const void* from, std::size_t bytes, cudaMemcpyKind, cudaStream_t) {
  Gpus& gpus = Gpus::instance();
  const bool to_gpu = gpus.device_of(to) >= 0;
  const bool from_gpu = gpus.device_of(from) >= 0;
  gpus.count([&](Counts& counts) {
    counts.copies_to_device += to_gpu && !from_gpu ? 1 : 0;
    counts.copies_to_host += from_gpu && !to_gpu ? 1 : 0;
  });
  if (!to_gpu || bytes <= gpus.description().kept_copy * 1024) // what a large one writes would take real memory
    std::memmove(to, from, bytes);
  return reported(cudaSuccess);
}

cudaError_t cudaMemcpy(void* to, const void* from, std::size_t bytes, cudaMemcpyKind kind) {
  return cudaMemcpyAsync(to, from, bytes, kind, nullptr);
}

cudaError_t cudaMemcpyPeerAsync(void* to, int, const void* from, int, std::size_t bytes, cudaStream_t stream) {
  return cudaMemcpyAsync(to, from, bytes, cudaMemcpyDeviceToDevice, stream);
}

cudaError_t cudaMemsetAsync(void* data, int value, std::size_t bytes, cudaStream_t) {
  if (bytes <= Gpus::instance().description().kept_copy * 1024)
    std::memset(data, value, bytes);
  return reported(cudaSuccess);
}

cudaError_t cudaMemset(void* data, int value, std::size_t bytes) {
  return cudaMemsetAsync(data, value, bytes, nullptr);
}

cudaError_t cudaGetSymbolAddress(void** data, const void*) {
  static char symbols[1 << 20];
  *data = symbols;
  return reported(cudaSuccess);
}
}
