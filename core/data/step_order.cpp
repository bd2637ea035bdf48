#include "core/data/step_order.h"

#include <algorithm>
#include <numeric>
#include <span>
#include <utility>

#include "core/data/hash.h"

namespace batchscope::data {

namespace {

/// Streams must not share their orders: with equal numbers of examples they would be in step.
std::uint64_t seed_of_stream(std::uint64_t seed, std::size_t stream) {
  return mix(seed + golden * (static_cast<std::uint64_t>(stream) + 1));
}

std::int64_t block_size(std::int64_t examples) {
  constexpr std::int64_t most = 2048;
  constexpr std::int64_t blocks = 8;
  return std::clamp<std::int64_t>(examples / blocks, 1, most);
}

} // namespace

StepOrder::SourceOrder::SourceOrder(const Dataset& data, std::int64_t first, std::int64_t examples, std::uint64_t seed,
                                    bool grouped)
    : data_(&data), first_(first), examples_(examples), seed_(seed), block_size_(grouped ? block_size(examples) : 0) {}

void StepOrder::SourceOrder::sort_block(std::int64_t block) {
  const std::int64_t begin = block * block_size_;
  const std::int64_t end = std::min(begin + block_size_, examples_);
  std::vector<std::pair<std::int64_t, std::int64_t>> by_length; // (length, index)
  for (std::int64_t position = begin; position < end; ++position) {
    const std::int64_t index = first_ + order_->at(position);
    by_length.emplace_back(data_->layout(std::span(&index, 1)).length, index);
  }
  std::stable_sort(by_length.begin(), by_length.end(), [](const auto& a, const auto& b) { return a.first < b.first; });
  if (block % 2 == 1)
    std::reverse(by_length.begin(), by_length.end());
  block_.clear();
  for (const auto& [length, index] : by_length)
    block_.push_back(index);
  block_number_ = block;
}

std::int64_t StepOrder::SourceOrder::at(std::int64_t epoch, std::int64_t position) {
  epoch += position / examples_;
  position %= examples_;
  if (epoch != epoch_) {
    order_.emplace(examples_, seed_, epoch);
    epoch_ = epoch;
    block_number_ = -1;
  }
  if (block_size_ == 0)
    return first_ + order_->at(position);
  if (position / block_size_ != block_number_)
    sort_block(position / block_size_);
  return block_[static_cast<std::size_t>(position % block_size_)];
}

StepOrder::StepOrder(const Dataset& data, std::uint64_t seed, bool group_by_length) {
  const std::vector<Stream>& streams = data.streams();
  if (streams.empty())
    sources_.emplace_back(data, 0, data.size(), seed, group_by_length);
  std::int64_t first = 0;
  for (std::size_t stream = 0; stream < streams.size(); ++stream) {
    sources_.emplace_back(data, first, streams[stream].examples, seed_of_stream(seed, stream), group_by_length);
    first += streams[stream].examples;
  }
}

void StepOrder::examples_of(const StepTakes& takes, std::vector<std::int64_t>& indices) {
  indices.clear();
  if (takes.streams.empty()) {
    for (std::int64_t i = 0; i < takes.examples; ++i)
      indices.push_back(sources_.front().at(takes.epoch_index, takes.first + i));
    return;
  }
  // Each example is of the stream that is furthest behind: the one whose next example has the smallest place
  // (taken + 1/2) / count in the step.
  std::vector<std::int64_t> taken(takes.streams.size(), 0);
  while (static_cast<std::int64_t>(indices.size()) < takes.examples) {
    std::size_t next = takes.streams.size();
    double smallest = 2;
    for (std::size_t stream = 0; stream < takes.streams.size(); ++stream) {
      const std::int64_t count = takes.streams[stream].count;
      if (taken[stream] >= count)
        continue;
      const double place = (static_cast<double>(taken[stream]) + 0.5) / static_cast<double>(count);
      if (place < smallest) {
        smallest = place;
        next = stream;
      }
    }
    const StreamTake& take = takes.streams[next];
    indices.push_back(sources_[next].at(take.epoch_index, take.first + taken[next]));
    ++taken[next];
  }
}

} // namespace batchscope::data
