#include "core/memory/detail/block_counter.h"

#include <algorithm>
#include <utility>

namespace batchscope::memory {

std::size_t rounded_up(std::size_t bytes) {
  return (bytes + block_granularity - 1) / block_granularity * block_granularity;
}

void BlockCounter::add(Block& block, std::size_t requested) {
  in_use_ += block.capacity;
  block.use = use_of(phase_);
  block.number = ++blocks_;
  in_use_by_[static_cast<int>(block.use)] += block.capacity;
  if (in_use_ > peak_)
    reset_peak();
  block.trace_serial = 0;
  if (!tracing_)
    return;
  trace_.peak_bytes = std::max(trace_.peak_bytes, in_use_);
  block.trace_serial = trace_serial_;
  block.trace_number = trace_blocks_++;
  trace_.events.push_back({block.trace_number, true, phase_, requested});
}

void BlockCounter::remove(const Block& block) {
  in_use_ -= block.capacity;
  in_use_by_[static_cast<int>(block.use)] -= block.capacity;
  if (!tracing_)
    return;
  const bool known = block.trace_serial == trace_serial_;
  trace_.events.push_back({known ? block.trace_number : telemetry::block_from_before, false, phase_, block.capacity});
}

void BlockCounter::reset_peak() {
  peak_ = in_use_;
  peak_by_ = in_use_by_;
  blocks_at_peak_ = blocks_;
}

void BlockCounter::retag(Block& block, telemetry::Use use) {
  in_use_by_[static_cast<int>(block.use)] -= block.capacity;
  in_use_by_[static_cast<int>(use)] += block.capacity;
  if (block.number <= blocks_at_peak_) {
    peak_by_[static_cast<int>(block.use)] -= block.capacity;
    peak_by_[static_cast<int>(use)] += block.capacity;
  }
  block.use = use;
}

void BlockCounter::start_trace() {
  tracing_ = true;
  ++trace_serial_;
  trace_blocks_ = 0;
  trace_ = {};
  trace_.granularity = block_granularity;
  trace_.start_bytes = in_use_;
  trace_.start_bytes_by = in_use_by_;
  trace_.peak_bytes = in_use_;
}

telemetry::Trace BlockCounter::stop_trace() {
  tracing_ = false;
  return std::move(trace_);
}

telemetry::Use use_of(telemetry::Phase phase) {
  switch (phase) {
  case telemetry::Phase::setup:
    return telemetry::Use::parameters;
  case telemetry::Phase::batch:
    return telemetry::Use::batch;
  case telemetry::Phase::forward:
  case telemetry::Phase::evaluation:
    return telemetry::Use::activations;
  case telemetry::Phase::optimizer_state:
    return telemetry::Use::optimizer;
  case telemetry::Phase::backward:
  case telemetry::Phase::update:
    return telemetry::Use::workspace;
  }
  return telemetry::Use::workspace;
}

} // namespace batchscope::memory
