#include <ATen/core/Tensor.h>
#include <ATen/ops/stack.h>

#include "core/memory/detail/budget_allocator.h"
#include "core/train/detail/learner.h"

namespace batchscope::train {

/// Loss terms of each stream in this window.
std::vector<std::int64_t> Learner::stream_terms(const std::vector<MicroBatch>& window) const {
  std::vector<std::int64_t> all;
  std::int64_t first = 0;
  for (const data::Stream& stream : data_.train->streams()) {
    std::int64_t terms = 0;
    for (const MicroBatch& micro : window)
      for (const std::int64_t& example : micro)
        if (example >= first && example < first + stream.examples)
          terms += data_.train->layout(MicroBatch(&example, 1)).loss_terms;
    all.push_back(terms);
    first += stream.examples;
  }
  return all;
}

/// The figures of an attempt that has made all gradients of its window.
void Learner::send_figures(const std::vector<MicroBatch>& window, const std::vector<at::Tensor>& of_part) {
  for (const MicroBatch& micro : window)
    figured_.whole += static_cast<std::int64_t>(micro.size());
  if (!of_part.empty()) {
    figured_.part = static_cast<std::int64_t>(window.front().size());
    figured_.part_tokens = data_.train->layout(window.front()).loss_terms;
  }
  const memory::NotCounted own;
  std::vector<at::Tensor> all{
      window_losses_.size() == 1 ? window_losses_.front() : at::stack(window_losses_).sum(at::kDouble), norm_};
  all.insert(all.end(), of_part.begin(), of_part.end());
  if (stream_losses_.defined()) {
    figured_.stream_terms = stream_terms(window);
    all.push_back(stream_losses_);
  }
  figures_.send(all);
  window_losses_.clear();
  stream_losses_ = at::Tensor();
}

Computed Learner::computed() {
  const std::vector<double>& values = figures_.read();
  auto next = values.begin();
  Computed result;
  result.loss = *next++ / static_cast<double>(figured_.tokens);
  result.grad_norm = *next++;
  if (figured_.part > 0) {
    const double of_part = *next++;
    const double scale = scaler_ ? *next++ : 1;
    const double norm =
        of_part / scale * static_cast<double>(figured_.tokens) / static_cast<double>(figured_.part_tokens);
    result.norms = {.part = figured_.part,
                    .whole = figured_.whole,
                    .part_squared = norm * norm,
                    .whole_squared = result.grad_norm * result.grad_norm};
  }
  for (const std::int64_t terms : figured_.stream_terms)
    result.stream_losses.push_back(*next++ / static_cast<double>(terms)); // 0 / 0 for no term
  return result;
}

} // namespace batchscope::train
