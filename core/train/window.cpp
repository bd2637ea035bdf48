#include "core/train/detail/window.h"

namespace batchscope::train {

void Window::fill(const data::StepTakes& takes, data::StepOrder& order) {
  order.examples_of(takes, indices_);
  micro_batches_.clear();
  std::size_t from = 0;
  for (const std::int64_t count : takes.takes) {
    if (count > 0)
      micro_batches_.push_back(MicroBatch(indices_).subspan(from, static_cast<std::size_t>(count)));
    from += static_cast<std::size_t>(count);
  }
}

} // namespace batchscope::train
