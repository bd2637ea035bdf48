#pragma once

#include <cstdint>

namespace batchscope::data {

/// The step of SplitMix64's state: 2^64 divided by the golden ratio.
inline constexpr std::uint64_t golden = 0x9E3779B97F4A7C15U;

/// The finalizer of SplitMix64: every bit of the input moves every bit of the output.
constexpr std::uint64_t mix(std::uint64_t value) {
  value = (value ^ (value >> 30)) * 0xBF58476D1CE4E5B9U;
  value = (value ^ (value >> 27)) * 0x94D049BB133111EBU;
  return value ^ (value >> 31);
}

} // namespace batchscope::data
