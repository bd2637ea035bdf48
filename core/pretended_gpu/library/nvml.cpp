// NVML: names, processes and memory of the cards.
#include <cstdio>
#include <cstdlib>
#include <cstring>

#include "core/pretended_gpu/library/gpus.h"

using namespace batchscope::pretended_gpu;

namespace {

// From NVML's public interface.
constexpr int success = 0, not_supported = 3;
struct Memory {
  unsigned long long total, free, used;
};

/// The handle of a card is its index and 1.
void* handle_of(int device) {
  return reinterpret_cast<void*>(static_cast<std::uintptr_t>(device) + 1);
}

int device_of(void* handle) {
  return static_cast<int>(reinterpret_cast<std::uintptr_t>(handle)) - 1;
}

} // namespace

extern "C" {

int nvmlInit_v2() {
  return success;
}

int nvmlShutdown() {
  return success;
}

int nvmlDeviceGetHandleByPciBusId_v2(const char* bus, void** handle) {
  const char* colon = std::strchr(bus, ':');
  const int device = colon != nullptr ? static_cast<int>(std::strtol(colon + 1, nullptr, 16)) - 1 : -1;
  if (!Gpus::instance().has(device))
    return not_supported;
  *handle = handle_of(device);
  return success;
}

int nvmlDeviceGetMemoryInfo(void* handle, Memory* memory) {
  memory->total = Gpus::instance().description().memory;
  memory->free = Gpus::instance().free_bytes(device_of(handle));
  memory->used = memory->total - memory->free;
  return success;
}

int nvmlDeviceGetName(void*, char* text, unsigned size) {
  std::snprintf(text, size, "%s", Gpus::instance().description().name.c_str());
  return success;
}

int nvmlSystemGetDriverVersion(char* text, unsigned size) {
  std::snprintf(text, size, "%s", "pretended");
  return success;
}

int nvmlSystemGetCudaDriverVersion_v2(int* version) {
  *version = Gpus::instance().description().driver;
  return success;
}

int nvmlDeviceGetComputeRunningProcesses(void*, unsigned* count, void*) {
  *count = 0;
  return success;
}

int nvmlDeviceGetNvLinkRemoteDeviceType() {
  return not_supported;
}

int nvmlDeviceGetNvLinkRemotePciInfo_v2() {
  return not_supported;
}

int nvmlDeviceGetGpuFabricInfoV() {
  return not_supported;
}
}
