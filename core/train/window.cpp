#include "core/train/detail/window.h"

namespace batchscope::train {

void Window::fill(const data::StepTakes& takes, const data::EpochOrder& order, std::int64_t rank) {
  indices_.clear();
  std::vector<std::int64_t> sizes;
  std::int64_t position = takes.first;
  for (std::size_t cell = 0; cell < takes.takes.size(); ++cell) {
    const std::int64_t count = takes.takes[cell];
    if (static_cast<std::int64_t>(cell) % takes.ranks == rank && count > 0) {
      for (std::int64_t i = 0; i < count; ++i)
        indices_.push_back(order.at(position + i));
      sizes.push_back(count);
    }
    position += count;
  }
  micro_batches_.clear();
  std::size_t from = 0;
  for (const std::int64_t count : sizes) {
    micro_batches_.push_back(MicroBatch(indices_).subspan(from, count));
    from += count;
  }
}

} // namespace batchscope::train
