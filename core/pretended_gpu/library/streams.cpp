// CUDA's runtime: streams, events and launches. What is asked for has always happened.
#include <cuda_runtime_api.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <cstring>
#include <map>
#include <mutex>

#include "core/pretended_gpu/library/errors.h"
#include "core/pretended_gpu/library/gpus.h"

using namespace batchscope::pretended_gpu;

namespace {

using Clock = std::chrono::steady_clock;

constexpr int greatest_priority = -5;

struct Stream {
  int device;
  int priority;
};

struct Event {
  int device = -1; ///< the one on which it was made
  Clock::time_point recorded{};
};

/// Streams by their handles; never freed, as what uses them may end later.
struct Streams {
  std::mutex mutex;
  std::map<cudaStream_t, Stream> streams;
  std::uintptr_t next = 0x1000;
};

Streams& all_streams() {
  static auto* streams = new Streams;
  return *streams;
}

/// The GPU of a stream; of the default stream, the current one.
int device_of(cudaStream_t stream) {
  Streams& all = all_streams();
  const std::lock_guard lock(all.mutex);
  const auto found = all.streams.find(stream);
  return found == all.streams.end() ? current_device() : found->second.device;
}

Event& event_of(cudaEvent_t event) {
  return *reinterpret_cast<Event*>(event);
}

cudaError_t launched() {
  Gpus::instance().count([](Counts& counts) { ++counts.launches; });
  return reported(cudaSuccess);
}

} // namespace

extern "C" {

cudaError_t cudaDeviceGetStreamPriorityRange(int* least, int* greatest) {
  *least = 0;
  *greatest = greatest_priority;
  return cudaSuccess;
}

cudaError_t cudaStreamCreateWithPriority(cudaStream_t* stream, unsigned, int priority) {
  Streams& all = all_streams();
  const std::lock_guard lock(all.mutex);
  *stream = reinterpret_cast<cudaStream_t>(all.next);
  all.next += sizeof(void*);
  all.streams[*stream] = {current_device(), priority};
  return reported(cudaSuccess);
}

cudaError_t cudaStreamCreateWithFlags(cudaStream_t* stream, unsigned flags) {
  return cudaStreamCreateWithPriority(stream, flags, 0);
}

cudaError_t cudaStreamCreate(cudaStream_t* stream) {
  return cudaStreamCreateWithPriority(stream, 0, 0);
}

cudaError_t cudaStreamDestroy(cudaStream_t stream) {
  Streams& all = all_streams();
  const std::lock_guard lock(all.mutex);
  all.streams.erase(stream);
  return reported(cudaSuccess);
}

cudaError_t cudaStreamGetPriority(cudaStream_t stream, int* priority) {
  Streams& all = all_streams();
  const std::lock_guard lock(all.mutex);
  const auto found = all.streams.find(stream);
  *priority = found == all.streams.end() ? 0 : found->second.priority;
  return cudaSuccess;
}

cudaError_t cudaStreamQuery(cudaStream_t) {
  return reported(cudaSuccess);
}

cudaError_t cudaStreamSynchronize(cudaStream_t) {
  Gpus::instance().count([](Counts& counts) { ++counts.stream_waits; });
  return reported(cudaSuccess);
}

cudaError_t cudaStreamWaitEvent(cudaStream_t, cudaEvent_t, unsigned) {
  return reported(cudaSuccess);
}

cudaError_t cudaDeviceSynchronize() {
  Gpus::instance().count([](Counts& counts) { ++counts.device_waits; });
  return reported(cudaSuccess);
}

/// Graphs are not captured: what is captured would have to run.
cudaError_t cudaStreamBeginCapture(cudaStream_t, cudaStreamCaptureMode) {
  return reported(cudaErrorNotSupported);
}

cudaError_t cudaStreamIsCapturing(cudaStream_t, cudaStreamCaptureStatus* status) {
  *status = cudaStreamCaptureStatusNone;
  return cudaSuccess;
}

cudaError_t cudaStreamGetCaptureInfo(cudaStream_t, cudaStreamCaptureStatus* status, unsigned long long* id,
                                     cudaGraph_t*, const cudaGraphNode_t**, const cudaGraphEdgeData**,
                                     std::size_t* count) {
  *status = cudaStreamCaptureStatusNone;
  if (id != nullptr)
    *id = 0;
  if (count != nullptr)
    *count = 0;
  return cudaSuccess;
}

cudaError_t cudaThreadExchangeStreamCaptureMode(cudaStreamCaptureMode*) {
  return cudaSuccess;
}

cudaError_t cudaEventCreateWithFlags(cudaEvent_t* event, unsigned) {
  *event = reinterpret_cast<cudaEvent_t>(new Event{.device = current_device()});
  return reported(cudaSuccess);
}

cudaError_t cudaEventCreate(cudaEvent_t* event) {
  return cudaEventCreateWithFlags(event, 0);
}

cudaError_t cudaEventDestroy(cudaEvent_t event) {
  delete &event_of(event);
  return reported(cudaSuccess);
}

/// An event belongs to one GPU, and so must the stream.
cudaError_t cudaEventRecordWithFlags(cudaEvent_t event, cudaStream_t stream, unsigned) {
  if (event_of(event).device != device_of(stream))
    return reported(cudaErrorInvalidResourceHandle);
  event_of(event).recorded = Clock::now();
  return reported(cudaSuccess);
}

cudaError_t cudaEventRecord(cudaEvent_t event, cudaStream_t stream) {
  return cudaEventRecordWithFlags(event, stream, 0);
}

cudaError_t cudaEventQuery(cudaEvent_t) {
  return reported(cudaSuccess);
}

cudaError_t cudaEventSynchronize(cudaEvent_t) {
  Gpus::instance().count([](Counts& counts) { ++counts.event_waits; });
  return reported(cudaSuccess);
}

/// The time of this processor between them, and never nothing: programs divide by it.
cudaError_t cudaEventElapsedTime(float* milliseconds, cudaEvent_t from, cudaEvent_t to) {
  constexpr float shortest = 0.001F;
  const std::chrono::duration<float, std::milli> passed = event_of(to).recorded - event_of(from).recorded;
  *milliseconds = passed.count() > shortest ? passed.count() : shortest;
  return reported(cudaSuccess);
}

cudaError_t cudaLaunchKernel(const void*, dim3, dim3, void**, std::size_t, cudaStream_t) {
  return launched();
}

cudaError_t __cudaLaunchKernel(cudaKernel_t, dim3, dim3, void**, std::size_t, cudaStream_t) {
  return launched();
}

cudaError_t cudaLaunchKernelExC(const cudaLaunchConfig_t*, const void*, void**) {
  return launched();
}

cudaError_t cudaLaunchCooperativeKernel(const void*, dim3, dim3, void**, std::size_t, cudaStream_t) {
  return launched();
}

cudaError_t cudaLaunchHostFunc(cudaStream_t, cudaHostFn_t function, void* data) {
  function(data);
  return reported(cudaSuccess);
}

cudaError_t cudaStreamAddCallback(cudaStream_t stream, cudaStreamCallback_t function, void* data, unsigned) {
  function(stream, cudaSuccess, data);
  return reported(cudaSuccess);
}

cudaError_t cudaFuncGetAttributes(cudaFuncAttributes* attributes, const void*) {
  // The newest that torch's wheels with CUDA 13 have kernels of and that runs on the card: an 8.9 runs those of 8.6.
  // CUB refuses any other.
  constexpr std::array compiled{75, 80, 86, 90, 100, 120};
  const auto newer = std::upper_bound(compiled.begin(), compiled.end(), Gpus::instance().description().capability);
  *attributes = {};
  attributes->maxThreadsPerBlock = 1024;
  attributes->numRegs = 32;
  attributes->binaryVersion = attributes->ptxVersion = newer == compiled.begin() ? compiled.front() : *std::prev(newer);
  attributes->maxDynamicSharedSizeBytes = 48 * 1024;
  return reported(cudaSuccess);
}

cudaError_t cudaOccupancyMaxActiveBlocksPerMultiprocessor(int* count, const void*, int, std::size_t) {
  *count = 2;
  return reported(cudaSuccess);
}

cudaError_t cudaOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(int* count, const void*, int, std::size_t,
                                                                   unsigned) {
  *count = 2;
  return reported(cudaSuccess);
}

cudaError_t __cudaGetKernel(cudaKernel_t* kernel, const void* function) {
  *kernel = reinterpret_cast<cudaKernel_t>(const_cast<void*>(function));
  return cudaSuccess;
}

// Functions that each library with kernels calls when it is loaded, and at each `<<<...>>>`.
void** __cudaRegisterFatBinary(void*) {
  static void* handle[4];
  return handle;
}

void __cudaRegisterFatBinaryEnd(void**) {}

void __cudaUnregisterFatBinary(void**) {}

void __cudaRegisterFunction(void**, const char*, char*, const char*, int, void*, void*, void*, void*, int*) {}

void __cudaRegisterVar(void**, char*, char*, const char*, int, std::size_t, int, int) {}

unsigned __cudaPushCallConfiguration(dim3, dim3, std::size_t, cudaStream_t) {
  return 0;
}

cudaError_t __cudaPopCallConfiguration(dim3* grid, dim3* block, std::size_t* shared, void* stream) {
  *grid = *block = dim3{1, 1, 1};
  *shared = 0;
  std::memset(stream, 0, sizeof(cudaStream_t));
  return cudaSuccess;
}
}
