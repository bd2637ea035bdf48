// CUDA's driver: what LibTorch asks it for directly, with the memory of `expandable_segments`.
#include <cuda.h>
#include <cuda_runtime_api.h>

#include <dlfcn.h>
#include <sys/mman.h>

#include <cstdint>
#include <map>
#include <mutex>

#include "core/pretended_gpu/library/errors.h"
#include "core/pretended_gpu/library/gpus.h"

using namespace batchscope::pretended_gpu;

namespace {

struct Physical {
  std::size_t bytes;
  int device;
};

/// Memory without an address, by its handle.
struct Memory {
  std::mutex mutex;
  std::map<CUmemGenericAllocationHandle, Physical> made;
  CUmemGenericAllocationHandle next = 1;
};

Memory& memory() {
  static auto* all = new Memory;
  return *all;
}

void* address(CUdeviceptr data) {
  return reinterpret_cast<void*>(static_cast<std::uintptr_t>(data));
}

CUresult not_supported() {
  return CUDA_ERROR_NOT_SUPPORTED;
}

} // namespace

extern "C" {

CUresult cuInit(unsigned) {
  return CUDA_SUCCESS;
}

CUresult cuDriverGetVersion(int* version) {
  *version = Gpus::instance().description().driver;
  return CUDA_SUCCESS;
}

CUresult cuDeviceGet(CUdevice* device, int index) {
  *device = index;
  return Gpus::instance().has(index) ? CUDA_SUCCESS : CUDA_ERROR_INVALID_DEVICE;
}

CUresult cuDeviceGetCount(int* count) {
  *count = Gpus::instance().description().count;
  return CUDA_SUCCESS;
}

CUresult cuDeviceGetAttribute(int* value, CUdevice_attribute attribute, CUdevice device) {
  // No memory that other processes can be given, and none of several cards at once.
  switch (attribute) {
  case CU_DEVICE_ATTRIBUTE_MULTICAST_SUPPORTED:
  case CU_DEVICE_ATTRIBUTE_HANDLE_TYPE_FABRIC_SUPPORTED:
    *value = 0;
    return CUDA_SUCCESS;
  default:
    return static_cast<CUresult>(cudaDeviceGetAttribute(value, static_cast<cudaDeviceAttr>(attribute), device));
  }
}

CUresult cuDevicePrimaryCtxGetState(CUdevice, unsigned* flags, int* active) {
  *flags = 0;
  *active = 1;
  return CUDA_SUCCESS;
}

CUresult cuDevicePrimaryCtxRetain(CUcontext* context, CUdevice device) {
  *context = reinterpret_cast<CUcontext>(static_cast<std::uintptr_t>(device) + 1);
  return CUDA_SUCCESS;
}

CUresult cuCtxGetCurrent(CUcontext* context) {
  return cuDevicePrimaryCtxRetain(context, current_device());
}

CUresult cuCtxSetCurrent(CUcontext) {
  return CUDA_SUCCESS;
}

CUresult cuGetErrorString(CUresult error, const char** text) {
  *text = cudaGetErrorString(static_cast<cudaError_t>(error));
  return CUDA_SUCCESS;
}

CUresult cuMemGetAllocationGranularity(std::size_t* bytes, const CUmemAllocationProp*,
                                       CUmemAllocationGranularity_flags) {
  *bytes = Gpus::granularity;
  return CUDA_SUCCESS;
}

CUresult cuMemAddressReserve(CUdeviceptr* data, std::size_t bytes, std::size_t, CUdeviceptr, unsigned long long) {
  void* found = mmap(nullptr, bytes, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (found == MAP_FAILED)
    return CUDA_ERROR_OUT_OF_MEMORY;
  *data = reinterpret_cast<std::uintptr_t>(found);
  return CUDA_SUCCESS;
}

CUresult cuMemAddressFree(CUdeviceptr data, std::size_t bytes) {
  munmap(address(data), bytes);
  return CUDA_SUCCESS;
}

CUresult cuMemCreate(CUmemGenericAllocationHandle* handle, std::size_t bytes, const CUmemAllocationProp* properties,
                     unsigned long long) {
  const int device = properties->location.id;
  if (!Gpus::instance().has(device) || !Gpus::instance().take(device, bytes))
    return CUDA_ERROR_OUT_OF_MEMORY;
  Memory& all = memory();
  const std::lock_guard lock(all.mutex);
  *handle = all.next++;
  all.made[*handle] = {bytes, device};
  return CUDA_SUCCESS;
}

CUresult cuMemRelease(CUmemGenericAllocationHandle handle) {
  Memory& all = memory();
  const std::lock_guard lock(all.mutex);
  const auto found = all.made.find(handle);
  if (found == all.made.end())
    return CUDA_ERROR_INVALID_VALUE;
  Gpus::instance().give_back(found->second.device, found->second.bytes);
  all.made.erase(found);
  return CUDA_SUCCESS;
}

CUresult cuMemMap(CUdeviceptr data, std::size_t bytes, std::size_t, CUmemGenericAllocationHandle handle,
                  unsigned long long) {
  Memory& all = memory();
  const std::lock_guard lock(all.mutex);
  const auto found = all.made.find(handle);
  if (found == all.made.end())
    return CUDA_ERROR_INVALID_VALUE;
  Gpus::instance().map(address(data), bytes, found->second.device);
  return CUDA_SUCCESS;
}

CUresult cuMemSetAccess(CUdeviceptr data, std::size_t bytes, const CUmemAccessDesc*, std::size_t) {
  return mprotect(address(data), bytes, PROT_READ | PROT_WRITE) == 0 ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
}

CUresult cuMemUnmap(CUdeviceptr data, std::size_t bytes) {
  madvise(address(data), bytes, MADV_DONTNEED);
  mprotect(address(data), bytes, PROT_NONE);
  Gpus::instance().unmap(address(data));
  return CUDA_SUCCESS;
}

/// Functions of the driver by name. One that is not known fails when it is called.
cudaError_t cudaGetDriverEntryPointByVersion(const char* name, void** function, unsigned, unsigned long long,
                                             cudaDriverEntryPointQueryResult* result) {
  *function = dlsym(RTLD_DEFAULT, name);
  if (*function == nullptr)
    *function = reinterpret_cast<void*>(&not_supported);
  if (result != nullptr)
    *result = cudaDriverEntryPointSuccess;
  return cudaSuccess;
}
}
