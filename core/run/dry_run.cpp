#include "core/run/dry_run.h"

#include <algorithm>
#include <cmath>

#include "core/base/error.h"

namespace batchscope::run {

namespace {

/// From half of it on, the blocks of a step grow in proportion to the batch.
constexpr std::int64_t typical_batch = 256;
/// Below, kernels treat each size in its own way, which says little about others.
constexpr std::int64_t smallest_modelled = 64;
/// Larger batches are left to the model: their traces say nothing more, and take longer to set up.
constexpr std::int64_t largest_traced = 1 << 20;

predict::MemoryModel model_around(DryRun& dry_run, std::int64_t batch) {
  const std::int64_t large = std::clamp<std::int64_t>(batch, 2, largest_traced);
  return {dry_run.trace(large / 2), dry_run.trace(large)};
}

predict::MemoryModel model_for(DryRun& dry_run, std::uint64_t budget_bytes, std::int64_t max_batch) {
  const std::int64_t most = std::min(max_batch, dry_run.largest_whole_batch());
  std::int64_t first = std::max<std::int64_t>(std::min(most, typical_batch), 2);
  while (first > 2 && !dry_run.can_trace(first))
    first /= 2;
  predict::MemoryModel model = model_around(dry_run, first);
  const std::int64_t fits = model.largest_within(budget_bytes, 1, most);
  return fits < smallest_modelled || fits == first ? model : model_around(dry_run, fits);
}

} // namespace

std::int64_t largest_whole_batch(const RunSpec& spec, std::int64_t examples) {
  if (spec.effective_batch)
    return std::max<std::int64_t>(std::min(examples / 2, *spec.effective_batch - 1), 1);
  return std::max<std::int64_t>(examples / spec.accumulate, 1);
}

DryRunPredictor::DryRunPredictor(std::unique_ptr<DryRun> dry_run, std::uint64_t budget_bytes, std::int64_t max_batch)
    : dry_run_(std::move(dry_run)), model_(model_for(*dry_run_, budget_bytes, std::max<std::int64_t>(max_batch, 2))) {}

predict::Peak DryRunPredictor::peak(std::int64_t batch) const {
  if (batch > largest_traced || !can_trace(batch))
    return model_.peak(batch);
  auto known = peaks_.find(batch);
  if (known == peaks_.end()) {
    const telemetry::Trace trace = dry_run_->trace(batch);
    predict::Peak peak = predict::MemoryModel::peak_of(trace);
    peak.bytes = trace.peak_bytes;
    known = peaks_.emplace(batch, peak).first;
  }
  return known->second;
}

bool DryRunPredictor::can_trace(std::int64_t batch) const {
  try {
    return dry_run_->can_trace(batch);
  } catch (const Error&) {
    return false;
  }
}

double DryRunPredictor::error() const {
  double largest = dry_run_error;
  for (const auto& [batch, peak] : peaks_) {
    const auto exact = static_cast<double>(std::max<std::uint64_t>(peak.bytes, 1));
    largest = std::max(largest, std::abs(static_cast<double>(model_.peak(batch).bytes) - exact) / exact);
  }
  return largest;
}

std::int64_t DryRunPredictor::largest_within(std::uint64_t bytes, std::int64_t lowest, std::int64_t highest) const {
  // The model is nearly right: from what it says in growing steps to two sizes of which one fits, then between them.
  const auto fits = [&](std::int64_t batch) {
    try {
      if (batch <= largest_traced)
        return dry_run_->fits(batch, bytes);
    } catch (const Error&) { // a process that has answered before, and no longer does
    }
    return model_.peak(batch).bytes <= bytes;
  };
  std::int64_t good = lowest - 1, bad = highest + 1;
  std::int64_t next = std::clamp(model_.largest_within(bytes, lowest, highest), lowest, std::max(highest, lowest));
  for (std::int64_t step = 1; bad - good > 1; step *= 2) {
    (fits(next) ? good : bad) = next;
    if (good >= lowest && bad <= highest)
      break;
    next = bad <= highest ? std::max(bad - step, lowest) : std::min(good + step, highest);
  }
  while (bad - good > 1) {
    const std::int64_t middle = good + (bad - good) / 2;
    (fits(middle) ? good : bad) = middle;
  }
  return good;
}

} // namespace batchscope::run
