#include "core/predict/memory_model.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "core/predict/alignment.h"

namespace batchscope::predict {

namespace {

/// Phases in which a block is allocated and freed.
struct Life {
  telemetry::Phase born = telemetry::Phase::update;
  telemetry::Phase freed = telemetry::Phase::update;
};

/// Blocks of the forward pass that outlive it are activations, the others workspace; blocks of the backward pass that
/// live until the update are gradients.
telemetry::Use use_of(const Life& life) {
  if (life.born == telemetry::Phase::batch)
    return telemetry::Use::batch;
  if (life.born == telemetry::Phase::forward && life.freed != telemetry::Phase::forward)
    return telemetry::Use::activations;
  if (life.born == telemetry::Phase::backward && life.freed == telemetry::Phase::update)
    return telemetry::Use::gradients;
  return telemetry::Use::workspace;
}

/// Bytes in use if all gradients had been held from the beginning: the step's own are then added to them and freed, a
/// layer's weight and bias at a time.
class GradientsHeld {
public:
  explicit GradientsHeld(std::uint64_t all) : all_(all) {}

  void allocated(std::uint64_t bytes) {
    live_ += bytes;
    before_last_ = std::exchange(last_, bytes);
  }
  void freed(std::uint64_t bytes) { live_ -= bytes; }
  /// No backward pass is running: no gradients are waiting to be added.
  void settle() { last_ = before_last_ = 0; }
  std::uint64_t in_use(std::uint64_t in_use) const { return in_use - live_ + all_ + last_ + before_last_; }

private:
  std::uint64_t all_;
  std::uint64_t live_ = 0;
  std::uint64_t last_ = 0, before_last_ = 0;
};

std::vector<Life> lives_of_blocks(const telemetry::Trace& trace, std::size_t blocks) {
  std::vector<Life> lives(blocks);
  for (const telemetry::TraceEvent& event : trace.events) {
    if (event.allocates)
      lives[event.block].born = event.phase;
    else if (event.block != telemetry::block_from_before)
      lives[event.block].freed = event.phase;
  }
  return lives;
}

template <typename Fits> std::int64_t largest(const Fits& fits, std::int64_t lowest, std::int64_t highest) {
  std::int64_t found = lowest - 1;
  while (found < highest) {
    const std::int64_t middle = found + (highest - found + 1) / 2;
    if (fits(middle))
      found = middle;
    else
      highest = middle - 1;
  }
  return found;
}

} // namespace

MemoryModel::MemoryModel(const telemetry::Trace& trace)
    : start_bytes_(trace.start_bytes), start_by_(trace.start_bytes_by), large_batch_(trace.batch),
      granularity_(trace.granularity), blocks_(static_cast<std::uint32_t>(allocations(trace).size())) {
  const std::vector<Life> lives = lives_of_blocks(trace, blocks_);
  for (const telemetry::TraceEvent& event : trace.events) {
    const bool from_before = event.block == telemetry::block_from_before;
    steps_.push_back({event.block, event.allocates, event.phase,
                      from_before ? telemetry::Use::workspace : use_of(lives[event.block]),
                      static_cast<double>(event.bytes), 0, false});
  }
}

MemoryModel::MemoryModel(const telemetry::Trace& small, const telemetry::Trace& large) : MemoryModel(large) {
  const std::vector<Allocation> before = allocations(small);
  const double ratio = static_cast<double>(large.batch) / static_cast<double>(small.batch);
  const std::vector<std::size_t> counterpart = align(before, allocations(large), ratio);
  const auto batches_between = static_cast<double>(large.batch - small.batch);
  double all = 0, lost = 0;
  for (Step& step : steps_) {
    if (!step.allocates)
      continue;
    all += step.bytes_at_large;
    const std::size_t match = counterpart[step.block];
    if (match == no_counterpart)
      lost += step.bytes_at_large;
    else if (grows_as_square(before[match].bytes, static_cast<std::uint64_t>(step.bytes_at_large), ratio))
      step.by_square = true;
    else
      step.bytes_per_example = (step.bytes_at_large - static_cast<double>(before[match].bytes)) / batches_between;
  }
  unmatched_ = all > 0 ? lost / all : 0;
}

Peak MemoryModel::peak_of(const telemetry::Trace& trace) {
  return MemoryModel(trace).peak(trace.batch);
}

std::uint64_t MemoryModel::size_at(const Step& step, std::int64_t batch) const {
  const double times = static_cast<double>(batch) / static_cast<double>(large_batch_);
  const double asked = step.by_square
                           ? step.bytes_at_large * times * times
                           : step.bytes_at_large + step.bytes_per_example * static_cast<double>(batch - large_batch_);
  return counted(static_cast<std::uint64_t>(std::max(std::llround(asked), 0LL)));
}

Peak MemoryModel::peak(std::int64_t batch) const {
  std::vector<std::uint64_t> sizes(blocks_, 0);
  auto by = start_by_;
  std::uint64_t in_use = start_bytes_;
  GradientsHeld held(all_gradients(batch));
  Peak peak{in_use, by, held.in_use(in_use)};
  for (const Step& step : steps_) {
    if (step.allocates) {
      const std::uint64_t size = size_at(step, batch);
      sizes[step.block] = size;
      in_use += size;
      by[static_cast<int>(step.use)] += size;
      if (step.use == telemetry::Use::gradients)
        held.allocated(size);
      if (step.phase != telemetry::Phase::backward)
        held.settle();
      peak.onto_gradients = std::max(peak.onto_gradients, held.in_use(in_use));
      if (in_use > peak.bytes) {
        peak.bytes = in_use;
        peak.by = by;
      }
    } else if (step.block == telemetry::block_from_before) {
      const auto freed = static_cast<std::uint64_t>(step.bytes_at_large);
      std::uint64_t& gradients = by[static_cast<int>(telemetry::Use::gradients)]; // what a step frees of the one before
      in_use -= std::min(in_use, freed);
      gradients -= std::min(gradients, freed);
    } else {
      in_use -= sizes[step.block];
      by[static_cast<int>(step.use)] -= sizes[step.block];
      if (step.use == telemetry::Use::gradients)
        held.freed(sizes[step.block]);
    }
  }
  return peak;
}

std::uint64_t MemoryModel::all_gradients(std::int64_t batch) const {
  std::uint64_t bytes = 0;
  for (const Step& step : steps_) {
    if (step.allocates && step.use == telemetry::Use::gradients)
      bytes += size_at(step, batch);
  }
  return bytes;
}

std::int64_t MemoryModel::largest_within(std::uint64_t bytes, std::int64_t lowest, std::int64_t highest) const {
  return largest([&](std::int64_t batch) { return peak(batch).bytes <= bytes; }, lowest, highest);
}

std::int64_t MemoryModel::largest_onto_gradients_within(std::uint64_t bytes, std::int64_t lowest,
                                                        std::int64_t highest) const {
  return largest([&](std::int64_t batch) { return peak(batch).onto_gradients <= bytes; }, lowest, highest);
}

} // namespace batchscope::predict
