#include "core/memory/detail/nvml.h"

#include <array>

#include <dlfcn.h>

namespace batchscope::memory {

namespace {

// From NVML's public interface; avoids the header for five functions.
using Init = int (*)();
using Shutdown = int (*)();
using HandleByPciBusId = int (*)(const char*, void**);
using GetName = int (*)(void*, char*, unsigned);
using GetDriverVersion = int (*)(char*, unsigned);
using Text = std::array<char, 128>; // both are shorter

template <typename Function> Function find(void* library, const char* name) {
  return reinterpret_cast<Function>(dlsym(library, name));
}

} // namespace

Nvml::Nvml(const std::string& pci_bus_id) : library_(dlopen("libnvidia-ml.so.1", RTLD_NOW | RTLD_LOCAL)) {
  if (library_ == nullptr)
    return;
  const auto init = find<Init>(library_, "nvmlInit_v2");
  const auto by_bus = find<HandleByPciBusId>(library_, "nvmlDeviceGetHandleByPciBusId_v2");
  started_ = init != nullptr && init() == 0;
  if (!started_ || by_bus == nullptr || by_bus(pci_bus_id.c_str(), &device_) != 0)
    device_ = nullptr;
}

Nvml::~Nvml() {
  if (library_ == nullptr)
    return;
  if (const auto shutdown = find<Shutdown>(library_, "nvmlShutdown"); shutdown != nullptr && started_)
    shutdown();
  dlclose(library_);
}

std::string Nvml::product() const {
  if (device_ == nullptr)
    return {};
  const auto get = find<GetName>(library_, "nvmlDeviceGetName");
  Text text{};
  return get != nullptr && get(device_, text.data(), text.size()) == 0 ? text.data() : std::string();
}

std::string Nvml::driver() const {
  if (!started_)
    return {};
  const auto get = find<GetDriverVersion>(library_, "nvmlSystemGetDriverVersion");
  Text text{};
  return get != nullptr && get(text.data(), text.size()) == 0 ? text.data() : std::string();
}

} // namespace batchscope::memory
