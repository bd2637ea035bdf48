#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>

#include "core/telemetry/trace.h"

namespace batchscope::memory {

/// Memory of a device in bytes, as its allocator counts it.
struct Readings {
  std::uint64_t in_use = 0;
  std::uint64_t reserved = 0; ///< in use and cached for reuse
  std::uint64_t peak = 0;     ///< highest in_use since reset_peak()
  std::uint64_t limit = 0;
  std::uint64_t refused = 0;                ///< requests refused so far
  std::optional<std::uint64_t> device_wide; ///< use by all processes as the driver reports it; nothing on `cpu`
  std::uint64_t peak_reserved = 0;          ///< of a GPU: highest reserved since reset_peak()
  /// What `peak` was used for, indexed by telemetry::Use; known on `cpu` only.
  std::optional<std::array<std::uint64_t, telemetry::use_count>> peak_by{};
};

/// The state of a device when it refused a request, in bytes.
struct OutOfMemoryInfo {
  std::uint64_t requested = 0;
  std::uint64_t in_use = 0;
  std::uint64_t reserved = 0;
  std::uint64_t limit = 0;
  std::optional<std::uint64_t> available; ///< on the device beyond what is reserved, ignoring the limit; nothing: `cpu`
  telemetry::Phase phase = telemetry::Phase::setup;
  std::array<std::uint64_t, telemetry::use_count> in_use_by{}; ///< indexed by telemetry::Use
  bool by_use_known = false;
};

enum class DeviceKind { cpu, cuda, meta };

/// A device with a memory budget. One thread uses it; readings() may be called from any thread.
class Device {
public:
  virtual ~Device() = default;

  virtual std::string name() const = 0; ///< `cpu`, `cuda:0`, `meta`
  virtual DeviceKind kind() const = 0;
  virtual int index() const = 0;                     ///< of a CUDA device, else 0
  virtual std::string product() const { return {}; } ///< `NVIDIA H200`; of `cpu` the processor; empty: unknown
  virtual std::string driver() const { return {}; }  ///< version of a GPU's driver; empty: none or unknown

  virtual Readings readings() const = 0;
  /// Changes the budget at once. Below what is in use, all further requests are refused until enough is freed. Throws
  /// Error (input) if the device has less memory.
  virtual void set_budget(std::uint64_t bytes) = 0;
  virtual void reset_peak() = 0;
  /// Bytes available beyond those reserved, ignoring the budget: free on the device, or on the host for `cpu`.
  virtual std::uint64_t available() const = 0;
  /// Releases cached blocks to the system.
  virtual void release_cache() = 0;
  /// Waits until all work queued on the device is done.
  virtual void synchronize() = 0;

  /// Sets the phase of all further allocations.
  virtual void enter(telemetry::Phase phase) = 0;
  /// Changes the use of a live block (to gradients, for example). `cpu` only.
  virtual void retag(const void* data, telemetry::Use use) = 0;
  /// The refused request behind the last out-of-memory error; each is returned once.
  virtual std::optional<OutOfMemoryInfo> take_last_oom() = 0;

  /// Records allocations and frees until stop_trace(); false if the device cannot.
  virtual bool start_trace() = 0;
  virtual telemetry::Trace stop_trace() = 0;
};

/// Opens `cpu` or `cuda:N` with a budget in bytes (default: 80 % of the memory that is free now). After opening `cpu`,
/// every LibTorch allocation of the process counts against the budget; opening it again sets a new budget for the same
/// allocator. Throws Error: input for another text, unavailable if the GPU or one of its libraries is missing (naming
/// which).
std::unique_ptr<Device> open_device(const std::string& text, std::optional<std::uint64_t> budget);

} // namespace batchscope::memory
