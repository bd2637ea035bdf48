#include "core/data/dataset.h"

#include <algorithm>
#include <numeric>

#include "core/base/crc32c.h"

namespace batchscope::data {

namespace {

template <typename Value> std::uint32_t add(std::uint32_t crc, const std::vector<Value>& values, std::int64_t count) {
  return crc32c({reinterpret_cast<const char*>(values.data()), static_cast<std::size_t>(count) * sizeof(Value)}, crc);
}

/// Examples that are read at a time: tokens one by one, because each has a length of its own.
std::int64_t at_a_time(const ExampleShape& shape, std::int64_t numbers) {
  constexpr std::int64_t enough_numbers = 1 << 16;
  return shape.input == ExampleShape::Input::tokens ? 1 : std::max<std::int64_t>(1, enough_numbers / numbers);
}

std::uint32_t checksum_of(const Dataset& data) {
  const ExampleShape& shape = data.shape();
  const bool tokens = shape.input == ExampleShape::Input::tokens;
  const std::int64_t numbers =
      std::accumulate(shape.dimensions.begin(), shape.dimensions.end(), std::int64_t{1}, std::multiplies<>());
  const std::int64_t most = at_a_time(shape, numbers);
  std::vector<float> inputs(tokens ? 0 : static_cast<std::size_t>(most * numbers));
  std::vector<float> targets(static_cast<std::size_t>(most));
  std::vector<std::int64_t> ids(static_cast<std::size_t>(tokens ? numbers : most));
  std::vector<std::int64_t> indices;
  std::uint32_t crc = 0;
  for (std::int64_t first = 0; first < data.size(); first += most) {
    const std::int64_t count = std::min(most, data.size() - first);
    indices.resize(static_cast<std::size_t>(count));
    std::iota(indices.begin(), indices.end(), first);
    const std::int64_t length = data.layout(indices).length;
    if (tokens) {
      data.fill_tokens(indices, length, ids.data());
      crc = add(crc, ids, count * length);
    } else {
      data.fill_inputs(indices, inputs.data());
      crc = add(crc, inputs, count * numbers);
    }
    if (shape.target == ExampleShape::Target::number) {
      data.fill_numbers(indices, targets.data());
      crc = add(crc, targets, count);
    } else {
      data.fill_labels(indices, length, ids.data());
      crc = add(crc, ids, count * length);
    }
  }
  return crc;
}

} // namespace

std::optional<std::uint32_t> Dataset::checksum() const {
  if (is_generated())
    return std::nullopt;
  std::call_once(summed_, [this] { checksum_ = compute_checksum(); });
  return checksum_;
}

std::uint32_t Dataset::compute_checksum() const {
  return checksum_of(*this);
}

} // namespace batchscope::data
