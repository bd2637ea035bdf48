#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace batchscope::store::detail {

/// Points per sealed chunk.
inline constexpr std::size_t chunk_points = 1024;

// Values are stored as in memory; the format is little-endian.
static_assert(std::endian::native == std::endian::little && sizeof(double) == 8);

/// CRC-32 of the bytes, as computed by zlib.
std::uint32_t checksum(const void* data, std::size_t size);

/// Steps as stored: empty if each is the one before plus 1, which is nearly always the case.
std::vector<std::int64_t> packed_steps(std::span<const std::int64_t> steps);
/// The inverse, for `n` steps beginning with `first_step`; nothing if `size` does not match `n`.
std::optional<std::vector<std::int64_t>> unpacked_steps(const void* data, std::size_t size, std::size_t n,
                                                        std::int64_t first_step);

/// `n` doubles; nothing if `size` does not match `n`.
std::optional<std::vector<double>> unpacked_values(const void* data, std::size_t size, std::size_t n);

/// One row of the tail: a step and one value per series of the frame.
struct TailRow {
  std::int64_t step = 0;
  std::vector<double> values;
};
std::string packed_row(std::int64_t step, std::span<const double> values);
/// Nothing if the bytes are not one whole row.
std::optional<TailRow> unpacked_row(const void* data, std::size_t size);

/// Last, smallest and largest value of a series so far.
struct Summary {
  std::int64_t count = 0;
  std::int64_t last_step = 0;
  double last = 0;
  double min; ///< NaN ignored, as in max; NaN if there is no other value
  double max;

  Summary();
  void add(std::int64_t step, double value);
  /// NaN equals NaN.
  bool operator==(const Summary& other) const;
};

} // namespace batchscope::store::detail
