#include <bit>

#include "core/base/error.h"
#include "core/data/hash.h"
#include "core/data/sampler.h"

namespace batchscope::data {

namespace {

std::uint64_t low_mask(int bits) {
  return (std::uint64_t{1} << bits) - 1;
}

/// Hash of one part of a number with a round's key; the caller uses its lowest bits.
std::uint64_t scramble(std::uint64_t part, std::uint64_t key) {
  std::uint64_t hash = (part + golden) * key;
  hash ^= hash >> 29;
  return (hash * golden) >> 32;
}

/// Fewer bits need more rounds until all orders are equally likely: with 6 rounds some orders of five examples occur
/// twice as often as others, with 24 they are equally frequent.
int rounds_for(int bits) {
  return bits <= 8 ? 24 : bits <= 16 ? 12 : 6;
}

} // namespace

EpochOrder::EpochOrder(std::int64_t examples, std::uint64_t seed, std::int64_t epoch) : examples_(examples) {
  if (examples < 1)
    throw input_error("an epoch needs at least one example");
  const int bits = std::bit_width(static_cast<std::uint64_t>(examples - 1));
  low_bits_ = bits / 2;
  high_bits_ = bits - low_bits_;
  rounds_ = rounds_for(bits);
  // Seed and epoch are hashed in sequence: a sum would give neighbouring seeds the same orders.
  std::uint64_t state = mix(mix(seed + golden) ^ (static_cast<std::uint64_t>(epoch) * golden));
  for (int i = 0; i < rounds_; ++i)
    keys_[i] = mix(state += golden);
}

std::uint64_t EpochOrder::permute(std::uint64_t value) const {
  const std::uint64_t low_part = low_mask(low_bits_);
  const std::uint64_t high_part = low_mask(high_bits_);
  std::uint64_t low = value & low_part;
  std::uint64_t high = value >> low_bits_;
  for (int i = 0; i < rounds_; i += 2) {
    low ^= scramble(high, keys_[i]) & low_part;
    high ^= scramble(low, keys_[i + 1]) & high_part;
  }
  return (high << low_bits_) | low;
}

std::int64_t EpochOrder::at(std::int64_t position) const {
  // The network permutes the next power of two. Results outside 0..N-1 are permuted again until they are inside, which
  // takes less than two rounds on average.
  auto value = static_cast<std::uint64_t>(position);
  do
    value = permute(value);
  while (value >= static_cast<std::uint64_t>(examples_));
  return static_cast<std::int64_t>(value);
}

} // namespace batchscope::data
