#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

#include "core/memory/device.h"
#include "core/telemetry/trace.h"

namespace batchscope::memory {

/// Block sizes are counted rounded up to multiples of this, in bytes.
inline constexpr std::size_t block_granularity = 64;
std::size_t rounded_up(std::size_t bytes);

/// Counts the live blocks of a device by their use, and records traces of them. Not thread-safe.
class BlockCounter {
public:
  /// Kept beside each block.
  struct Block {
    std::size_t capacity = 0; ///< in bytes, rounded up
    std::uint32_t trace_serial = 0;
    std::uint32_t trace_number = 0;
    telemetry::Use use = telemetry::Use::workspace;
    std::uint64_t number = 0; ///< in the order of allocation
  };

  void add(Block& block, std::size_t requested);
  void remove(const Block& block);
  void retag(Block& block, telemetry::Use use);

  /// Sets the phase of all further blocks.
  void enter(telemetry::Phase phase) { phase_ = phase; }
  telemetry::Phase phase() const { return phase_; }
  void reset_peak();
  void start_trace();
  telemetry::Trace stop_trace();

  std::uint64_t in_use() const { return in_use_; }
  std::uint64_t peak() const { return peak_; } ///< since reset_peak()
  const std::array<std::uint64_t, telemetry::use_count>& in_use_by() const { return in_use_by_; }
  /// What was in use at the first moment of the peak. A block counts by the use that it was retagged to later.
  const std::array<std::uint64_t, telemetry::use_count>& peak_by() const { return peak_by_; }

private:
  std::uint64_t in_use_ = 0;
  std::uint64_t peak_ = 0;
  std::array<std::uint64_t, telemetry::use_count> in_use_by_{};
  std::array<std::uint64_t, telemetry::use_count> peak_by_{};
  std::uint64_t blocks_ = 0;         ///< so far
  std::uint64_t blocks_at_peak_ = 0; ///< blocks_ then
  telemetry::Phase phase_ = telemetry::Phase::setup;
  bool tracing_ = false;
  std::uint32_t trace_serial_ = 0;
  std::uint32_t trace_blocks_ = 0;
  telemetry::Trace trace_;
};

/// The use that a block allocated in a phase counts as, until it is retagged.
telemetry::Use use_of(telemetry::Phase phase);

} // namespace batchscope::memory
