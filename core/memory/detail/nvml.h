#pragma once

#include <string>

namespace batchscope::memory {

/// Names of a GPU and its driver through NVML, loaded at run time. Without NVML everything is unknown.
class Nvml {
public:
  /// `pci_bus_id` has the CUDA runtime's format; NVML's own indices ignore CUDA_VISIBLE_DEVICES.
  explicit Nvml(const std::string& pci_bus_id);
  ~Nvml();
  Nvml(const Nvml&) = delete;
  Nvml& operator=(const Nvml&) = delete;

  std::string product() const; ///< `NVIDIA H200`; empty: unknown
  std::string driver() const;  ///< its version; empty: unknown

private:
  void* library_ = nullptr;
  void* device_ = nullptr;
  bool started_ = false;
};

} // namespace batchscope::memory
