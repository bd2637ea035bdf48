#pragma once

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstring>
#include <memory>
#include <type_traits>
#include <vector>

namespace batchscope::series {

/// An append-only column of values. Appending never moves existing values, so it takes the same short time at any
/// length. A stretch of equal values takes almost no memory. One thread at a time.
template <typename T> class Column {
  static_assert(std::is_trivially_copyable_v<T>);

public:
  void append(const T& value) {
    const std::size_t offset = size_ % block_size;
    if (offset == 0)
      blocks_.push_back({std::make_unique<T[]>(1), 0});
    Block& block = blocks_.back();
    if (offset == 0)
      block.values[0] = value;
    else if (block.mask != 0)
      block.values[offset] = value;
    else if (std::memcmp(&block.values[0], &value, sizeof(T)) != 0) // NaN is like NaN, and 0 is not -0
      spread(block, offset, value);
    ++size_;
  }

  std::size_t size() const { return size_; }
  bool empty() const { return size_ == 0; }
  T operator[](std::size_t index) const {
    const Block& block = blocks_[index / block_size];
    return block.values[index & block.mask];
  }
  T back() const { return (*this)[size_ - 1]; }

  /// Calls visit(value, index) for the values [first, end), in order.
  template <typename Visit> void visit(std::size_t first, std::size_t end, const Visit& visit) const {
    while (first < end) {
      const Block& block = blocks_[first / block_size];
      const std::size_t stop = std::min(end, (first / block_size + 1) * block_size);
      for (; first < stop; ++first)
        visit(block.values[first & block.mask], first);
    }
  }

private:
  static constexpr std::size_t block_size = std::bit_floor(16384 / sizeof(T));

  /// While the mask is 0, one value stands for all; else there are block_size values.
  struct Block {
    std::unique_ptr<T[]> values;
    std::size_t mask = 0;
  };

  static void spread(Block& block, std::size_t count, const T& next) {
    auto values = std::make_unique_for_overwrite<T[]>(block_size);
    std::fill_n(values.get(), count, block.values[0]);
    values[count] = next;
    block = {std::move(values), block_size - 1};
  }

  std::vector<Block> blocks_;
  std::size_t size_ = 0;
};

} // namespace batchscope::series
