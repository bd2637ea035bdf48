#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "core/store/run_reader.h"

namespace batchscope::store {

/// When the steps of a stored run were done. Reads the series `seconds` when it is first asked. One thread; the reader
/// must outlive it.
class StepTimes {
public:
  StepTimes(const RunReader& reader, const RunRow& run) : reader_(reader), run_(run.id), end_(run.outcome.seconds) {}

  /// Seconds from the run's start to the step, or to the next one with a time; to the end of the run after the last one
  /// and for a run without times.
  double at(std::int64_t step);

private:
  const RunReader& reader_;
  const std::int64_t run_;
  const double end_;
  std::optional<std::vector<Point>> times_;
};

} // namespace batchscope::store
