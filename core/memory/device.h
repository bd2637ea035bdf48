#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>

#include "core/telemetry/trace.h"

namespace batchscope::memory {

/// Bytes on a device, as its allocator counts them for a run.
struct Readings {
  std::uint64_t in_use = 0;
  std::uint64_t reserved = 0; ///< in use and kept for reuse
  std::uint64_t peak = 0;     ///< highest in_use since reset_peak()
  std::uint64_t limit = 0;
  std::uint64_t refused = 0;                ///< requests refused so far
  std::optional<std::uint64_t> device_wide; ///< all processes' use as the driver tells; nothing on `cpu`
};

/// What a device said when it refused a request.
struct OutOfMemoryInfo {
  std::uint64_t requested = 0;
  std::uint64_t in_use = 0;
  std::uint64_t reserved = 0;
  std::uint64_t limit = 0;
  telemetry::Phase phase = telemetry::Phase::setup;
  std::array<std::uint64_t, telemetry::use_count> in_use_by{}; ///< indexed by telemetry::Use
  bool by_use_known = false;
};

/// A device that tensors live on, with a budget. One thread drives it; readings() may be called from any.
class Device {
public:
  virtual ~Device() = default;

  virtual std::string name() const = 0; ///< `cpu`, `cuda:0`
  virtual bool is_cuda() const = 0;
  virtual int index() const = 0; ///< of a CUDA device, else 0

  virtual Readings readings() const = 0;
  virtual void reset_peak() = 0;
  /// Bytes that can be had beyond those reserved, the budget aside: free on the device, or on the host for `cpu`.
  virtual std::uint64_t available() const = 0;
  /// Gives blocks kept for reuse back to the system.
  virtual void release_cache() = 0;
  /// Waits until the device has done all that was asked of it.
  virtual void synchronize() = 0;

  /// What the allocations from now on are for.
  virtual void enter(telemetry::Phase phase) = 0;
  /// Counts a block that is alive as something else than it was allocated for (a gradient, say). `cpu` only.
  virtual void retag(const void* data, telemetry::Use use) = 0;
  /// The refusal behind the last out-of-memory error; forgotten once asked for.
  virtual std::optional<OutOfMemoryInfo> take_out_of_memory() = 0;

  /// Records what the allocator does until stop_trace(); false where the device cannot.
  virtual bool start_trace() = 0;
  virtual telemetry::Trace stop_trace() = 0;
};

/// Opens `cpu` or `cuda:N` with a budget in bytes (default: 80 % of the memory that is free now).
/// `cpu` counts every LibTorch allocation of the process from now on against the budget; opening it again sets a new
/// budget for the same account. Throws Error: input for another text, unavailable where the GPU or one of its
/// libraries is missing (naming which).
std::unique_ptr<Device> open_device(const std::string& text, std::optional<std::uint64_t> budget);

} // namespace batchscope::memory
