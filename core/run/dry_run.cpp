#include "core/run/dry_run.h"

#include <algorithm>

namespace batchscope::run {

namespace {

/// From half of it on, the blocks of a step grow in proportion to the batch.
constexpr std::int64_t typical_batch = 256;
/// Below, kernels treat each size in its own way, which says little about others.
constexpr std::int64_t smallest_modelled = 64;
/// Larger batches are left to the model: their traces say nothing more, and take longer to set up.
constexpr std::int64_t largest_traced = 1 << 20;
/// By how much the model may miss the largest size that fits.
constexpr int max_corrections = 16;

predict::MemoryModel model_around(DryRun& dry_run, std::int64_t batch) {
  const std::int64_t large = std::clamp<std::int64_t>(batch, 2, largest_traced);
  return {dry_run.trace(large / 2), dry_run.trace(large)};
}

predict::MemoryModel model_for(DryRun& dry_run, std::uint64_t budget_bytes, std::int64_t max_batch) {
  const std::int64_t most = std::min(max_batch, dry_run.largest_whole_batch());
  predict::MemoryModel model = model_around(dry_run, std::min(most, typical_batch));
  const std::int64_t fits = model.largest_within(budget_bytes, 1, most);
  return fits < smallest_modelled || fits == std::min(most, typical_batch) ? model : model_around(dry_run, fits);
}

} // namespace

std::vector<std::uint64_t> held_blocks(DryRun& dry_run) {
  std::map<std::uint32_t, std::uint64_t> alive; // numbered in the order of allocation
  for (const telemetry::TraceEvent& event : dry_run.trace_from_start(1).events) {
    if (event.allocates)
      alive[event.block] = event.bytes;
    else
      alive.erase(event.block);
  }
  std::vector<std::uint64_t> held;
  for (const auto& [block, bytes] : alive)
    held.push_back(bytes);
  return held;
}

DryRunPredictor::DryRunPredictor(std::unique_ptr<DryRun> dry_run, std::uint64_t budget_bytes, std::int64_t max_batch)
    : dry_run_(std::move(dry_run)), model_(model_for(*dry_run_, budget_bytes, std::max<std::int64_t>(max_batch, 2))) {}

predict::Peak DryRunPredictor::peak(std::int64_t batch) const {
  if (batch > largest_traced)
    return model_.peak(batch);
  auto known = peaks_.find(batch);
  if (known == peaks_.end()) {
    predict::Peak peak = model_.peak(batch); // the breakdown
    peak.bytes = dry_run_->trace(batch).peak_bytes;
    known = peaks_.emplace(batch, peak).first;
  }
  return known->second;
}

std::int64_t DryRunPredictor::largest_within(std::uint64_t bytes, std::int64_t lowest, std::int64_t highest) const {
  std::int64_t found = model_.largest_within(bytes, lowest, highest);
  for (int i = 0; i < max_corrections && found >= lowest && peak(found).bytes > bytes; ++i)
    --found;
  for (int i = 0; i < max_corrections && found < highest && peak(found + 1).bytes <= bytes; ++i)
    ++found;
  return found;
}

} // namespace batchscope::run
