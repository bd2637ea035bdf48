#include "core/train/detail/figures.h"

#include <algorithm>

#include <ATen/ops/cat.h>
#include <ATen/ops/empty.h>
#include <c10/core/impl/VirtualGuardImpl.h>

#include "core/memory/detail/budget_allocator.h"

namespace batchscope::train {

Figures::Figures(const c10::Device& device, std::int64_t most) : device_(device) {
  if (!device_.is_cuda())
    return;
  arrived_ = at::empty({most}, at::TensorOptions(at::kDouble).pinned_memory(true));
  event_.emplace(device_.type());
}

void Figures::send(const std::vector<at::Tensor>& numbers) {
  read_ = false;
  count_ = 0;
  for (const at::Tensor& number : numbers)
    count_ += number.numel();
  if (device_.is_meta())
    return;
  const memory::NotCounted own;
  std::vector<at::Tensor> flat;
  for (const at::Tensor& number : numbers)
    flat.push_back(number.detach().reshape({-1}).to(at::kDouble));
  const at::Tensor all = flat.size() == 1 ? flat.front() : at::cat(flat);
  if (!event_) {
    arrived_ = all;
    return;
  }
  arrived_.narrow(0, 0, count_).copy_(all, /*non_blocking=*/true);
  event_->record(c10::impl::VirtualGuardImpl(device_.type()).getStream(device_));
}

const std::vector<double>& Figures::read() {
  if (read_)
    return values_;
  read_ = true;
  values_.assign(static_cast<std::size_t>(count_), 0.0);
  if (device_.is_meta())
    return values_;
  if (event_)
    event_->synchronize();
  std::copy_n(arrived_.const_data_ptr<double>(), count_, values_.begin());
  return values_;
}

} // namespace batchscope::train
