#include "core/predict/reserved_predictor.h"

#include <algorithm>
#include <set>

#include "core/base/error.h"
#include "core/predict/reserve.h"

namespace batchscope::predict {

namespace {

/// Appends a step whose blocks are numbered from `first`, and frees what it leaves; returns the next free number.
std::uint32_t append_step(std::vector<telemetry::TraceEvent>& all, const std::vector<telemetry::TraceEvent>& step,
                          std::uint32_t first) {
  std::set<std::uint32_t> alive;
  std::uint32_t next = first;
  for (telemetry::TraceEvent event : step) {
    event.block += first;
    next = std::max(next, event.block + 1);
    if (event.allocates)
      alive.insert(event.block);
    else
      alive.erase(event.block);
    all.push_back(event);
  }
  for (const std::uint32_t block : alive)
    all.push_back({block, false, telemetry::Phase::update, 0});
  return next;
}

} // namespace

std::int64_t largest_served(const std::function<bool(std::int64_t)>& serves, std::int64_t lowest,
                            std::int64_t highest) {
  std::int64_t largest = lowest - 1;
  std::int64_t too_large = highest + 1;
  std::int64_t next = highest;
  while (too_large - largest > 1) {
    (serves(next) ? largest : too_large) = next;
    const std::int64_t gap = too_large - largest;
    next = largest < lowest && gap > 16 ? too_large - gap / 8 : largest + gap / 2;
  }
  return largest;
}

ReservedPredictor::ReservedPredictor(std::shared_ptr<const MemoryModel> model, std::vector<std::uint64_t> held_blocks)
    : model_(std::move(model)), held_blocks_(std::move(held_blocks)) {
  std::uint64_t held = 0;
  for (const std::uint64_t block : held_blocks_)
    held += model_->counted(block);
  if (model_->start_bytes() > held)
    held_blocks_.push_back(model_->start_bytes() - held);
}

telemetry::Trace ReservedPredictor::two_steps(std::int64_t batch) const {
  telemetry::Trace trace;
  std::uint32_t block = 0;
  for (const std::uint64_t held : held_blocks_)
    trace.events.push_back({block++, true, telemetry::Phase::setup, held});
  const auto step = model_->events(batch);
  block = append_step(trace.events, step, block);
  append_step(trace.events, step, block);
  return trace;
}

Peak ReservedPredictor::peak(std::int64_t batch) const {
  const auto known = peaks_.find(batch);
  if (known != peaks_.end())
    return known->second;
  constexpr std::uint64_t unlimited = std::uint64_t{1} << 46; // address space
  Peak peak = model_->peak(batch);
  try {
    peak.bytes = reserve(two_steps(batch), unlimited).allocated_bytes;
  } catch (const Error& error) {
    if (error.kind() != Error::Kind::unavailable)
      throw;
  }
  return peaks_[batch] = peak;
}

bool ReservedPredictor::serves(std::int64_t batch, std::uint64_t bytes) const {
  try {
    return reserve(two_steps(batch), bytes).fits;
  } catch (const Error& error) {
    if (error.kind() != Error::Kind::unavailable)
      throw;
    return true;
  }
}

std::int64_t ReservedPredictor::largest_within(std::uint64_t bytes, std::int64_t lowest, std::int64_t highest) const {
  return largest_served([&](std::int64_t batch) { return serves(batch, bytes); }, lowest,
                        model_->largest_within(bytes, lowest, highest));
}

} // namespace batchscope::predict
