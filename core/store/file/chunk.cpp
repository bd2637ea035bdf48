#include "core/store/file/detail/chunk.h"

#include <cmath>
#include <cstring>
#include <limits>
#include <numeric>

#include <zlib.h>

namespace batchscope::store::detail {

std::uint32_t checksum(const void* data, std::size_t size) {
  return static_cast<std::uint32_t>(::crc32_z(0, static_cast<const Bytef*>(data), size));
}

std::vector<std::int64_t> packed_steps(std::span<const std::int64_t> steps) {
  for (std::size_t i = 1; i < steps.size(); ++i)
    if (steps[i] != steps[i - 1] + 1)
      return {steps.begin(), steps.end()};
  return {};
}

std::optional<std::vector<std::int64_t>> unpacked_steps(const void* data, std::size_t size, std::size_t n,
                                                        std::int64_t first_step) {
  if (n > chunk_points || (size != 0 && size != n * sizeof(std::int64_t)))
    return std::nullopt;
  std::vector<std::int64_t> steps(n);
  if (size == 0)
    std::iota(steps.begin(), steps.end(), first_step);
  else
    std::memcpy(steps.data(), data, size);
  return steps;
}

std::optional<std::vector<double>> unpacked_values(const void* data, std::size_t size, std::size_t n) {
  if (n > chunk_points || size != n * sizeof(double))
    return std::nullopt;
  std::vector<double> values(n);
  if (n > 0)
    std::memcpy(values.data(), data, size);
  return values;
}

std::string packed_row(std::int64_t step, std::span<const double> values) {
  std::string bytes(sizeof step + values.size_bytes(), '\0');
  std::memcpy(bytes.data(), &step, sizeof step);
  std::memcpy(bytes.data() + sizeof step, values.data(), values.size_bytes());
  return bytes;
}

std::optional<TailRow> unpacked_row(const void* data, std::size_t size) {
  TailRow row;
  if (size <= sizeof row.step || size % sizeof(double) != 0)
    return std::nullopt;
  row.values.resize((size - sizeof row.step) / sizeof(double));
  std::memcpy(&row.step, data, sizeof row.step);
  std::memcpy(row.values.data(), static_cast<const char*>(data) + sizeof row.step, size - sizeof row.step);
  return row;
}

Summary::Summary() : min(std::numeric_limits<double>::quiet_NaN()), max(std::numeric_limits<double>::quiet_NaN()) {}

void Summary::add(std::int64_t step, double value) {
  ++count;
  last_step = step;
  last = value;
  // As std::fmin and std::fmax, which are not inlined: NaN gives way to any number.
  min = value < min || std::isnan(min) ? value : min;
  max = value > max || std::isnan(max) ? value : max;
}

bool Summary::operator==(const Summary& other) const {
  const auto same = [](double a, double b) { return a == b || (std::isnan(a) && std::isnan(b)); };
  return count == other.count && last_step == other.last_step && same(last, other.last) && same(min, other.min) &&
         same(max, other.max);
}

} // namespace batchscope::store::detail
