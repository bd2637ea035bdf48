#pragma once

#include <cstdint>

namespace batchscope::data {

/// Increment of the SplitMix64 state: 2^64 divided by the golden ratio.
inline constexpr std::uint64_t golden = 0x9E3779B97F4A7C15U;

/// The SplitMix64 finalizer: every input bit affects every output bit.
constexpr std::uint64_t mix(std::uint64_t value) {
  value = (value ^ (value >> 30)) * 0xBF58476D1CE4E5B9U;
  value = (value ^ (value >> 27)) * 0x94D049BB133111EBU;
  return value ^ (value >> 31);
}

} // namespace batchscope::data
