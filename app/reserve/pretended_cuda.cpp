// A stand-in for CUDA's runtime, for a process without a GPU; see pretended_cuda.h.
#include "app/reserve/pretended_cuda.h"

#include <cuda_runtime_api.h>

#include <sys/mman.h>

#include <cstddef>
#include <cstdlib>
#include <cstring>
#include <map>
#include <mutex>

namespace {

/// Blocks of address space that cannot be touched.
struct Pretended {
  std::mutex mutex;
  std::map<void*, std::size_t> blocks; ///< guarded by mutex
  std::size_t used = 0;                ///< guarded by mutex
  std::size_t capacity = std::size_t{1} << 34;
};

Pretended& pretended() {
  static Pretended state;
  return state;
}

thread_local cudaError_t last_error = cudaSuccess;

cudaError_t fail(cudaError_t error) {
  last_error = error;
  return error;
}

} // namespace

void set_pretended_capacity(std::size_t bytes) {
  pretended().capacity = bytes;
}

// What LibTorch's allocator calls. One device, one stream; events have always happened.
extern "C" {

cudaError_t cudaMalloc(void** pointer, std::size_t bytes) {
  Pretended& state = pretended();
  const std::lock_guard lock(state.mutex);
  if (bytes > state.capacity - state.used)
    return fail(cudaErrorMemoryAllocation);
  void* block = mmap(nullptr, bytes, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (block == MAP_FAILED)
    return fail(cudaErrorMemoryAllocation);
  state.blocks[block] = bytes;
  state.used += bytes;
  *pointer = block;
  return cudaSuccess;
}
cudaError_t cudaFree(void* pointer) {
  Pretended& state = pretended();
  const std::lock_guard lock(state.mutex);
  const auto found = state.blocks.find(pointer);
  if (found == state.blocks.end())
    return cudaSuccess;
  munmap(pointer, found->second);
  state.used -= found->second;
  state.blocks.erase(found);
  return cudaSuccess;
}
cudaError_t cudaMemGetInfo(std::size_t* free, std::size_t* total) {
  Pretended& state = pretended();
  const std::lock_guard lock(state.mutex);
  *total = state.capacity;
  *free = state.capacity - state.used;
  return cudaSuccess;
}

cudaError_t cudaGetDeviceCount(int* count) {
  *count = 1;
  return cudaSuccess;
}
cudaError_t cudaGetDevice(int* device) {
  *device = 0;
  return cudaSuccess;
}
cudaError_t cudaSetDevice(int) {
  return cudaSuccess;
}
cudaError_t cudaGetDeviceProperties(cudaDeviceProp* properties, int) {
  std::memset(properties, 0, sizeof *properties);
  std::strcpy(properties->name, "computed");
  properties->totalGlobalMem = pretended().capacity;
  properties->major = 9;
  properties->multiProcessorCount = 100;
  return cudaSuccess;
}
cudaError_t cudaDriverGetVersion(int* version) {
  *version = 13000;
  return cudaSuccess;
}
cudaError_t cudaGetLastError() {
  const cudaError_t error = last_error;
  last_error = cudaSuccess;
  return error;
}
const char* cudaGetErrorName(cudaError_t) {
  return "cudaError";
}
const char* cudaGetErrorString(cudaError_t error) {
  return error == cudaErrorMemoryAllocation ? "out of memory" : "error";
}
cudaError_t cudaDeviceSynchronize() {
  return cudaSuccess;
}
cudaError_t cudaStreamSynchronize(cudaStream_t) {
  return cudaSuccess;
}
cudaError_t cudaStreamQuery(cudaStream_t) {
  return cudaSuccess;
}
cudaError_t cudaStreamIsCapturing(cudaStream_t, cudaStreamCaptureStatus* status) {
  *status = cudaStreamCaptureStatusNone;
  return cudaSuccess;
}
cudaError_t cudaThreadExchangeStreamCaptureMode(cudaStreamCaptureMode*) {
  return cudaSuccess;
}
cudaError_t cudaEventCreateWithFlags(cudaEvent_t* event, unsigned) {
  *event = reinterpret_cast<cudaEvent_t>(1);
  return cudaSuccess;
}
cudaError_t cudaEventDestroy(cudaEvent_t) {
  return cudaSuccess;
}
cudaError_t cudaEventQuery(cudaEvent_t) {
  return cudaSuccess;
}
cudaError_t cudaEventSynchronize(cudaEvent_t) {
  return cudaSuccess;
}
cudaError_t cudaDeviceGetStreamPriorityRange(int* least, int* greatest) {
  *least = *greatest = 0;
  return cudaSuccess;
}
cudaError_t cudaStreamCreateWithPriority(cudaStream_t* stream, unsigned, int) {
  *stream = nullptr;
  return cudaSuccess;
}
}
