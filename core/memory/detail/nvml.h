#pragma once

#include <cstdint>
#include <optional>
#include <string>

namespace batchscope::memory {

/// What the driver tells of a GPU through NVML, loaded at run time. Where it is missing, everything is unknown.
class Nvml {
public:
  /// `pci_bus_id` as the CUDA runtime writes it; NVML's own numbers ignore CUDA_VISIBLE_DEVICES.
  explicit Nvml(const std::string& pci_bus_id);
  ~Nvml();
  Nvml(const Nvml&) = delete;
  Nvml& operator=(const Nvml&) = delete;

  /// Bytes in use on the device by all processes.
  std::optional<std::uint64_t> used_bytes() const;

private:
  void* library_ = nullptr;
  void* device_ = nullptr;
  bool started_ = false;
};

} // namespace batchscope::memory
