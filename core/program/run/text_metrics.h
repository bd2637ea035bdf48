#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "core/run/program_spec.h"
#include "core/telemetry/record.h"

namespace batchscope::program {

/// Reads series from the lines that a program prints. A step is complete when all series have a value, or when a value
/// comes for a later step. A series without a group `step` counts: its value belongs to the present step, or, if that
/// has one already, to the next. Values for steps before the present one are left out. One thread.
class TextMetrics {
public:
  /// Throws Error (input) naming the series for a pattern that is not valid, or has no group for the value, and for
  /// two series of one name.
  explicit TextMetrics(const std::vector<run::Metric>& metrics);
  ~TextMetrics();
  TextMetrics(TextMetrics&&) noexcept;

  bool empty() const;
  /// Reads a line, which need not be UTF-8; returns the step that it completed, if any. Names of series of a
  /// StepRecord are its members (loss and the like are NaN if nothing gave them); others are in `more`.
  std::optional<telemetry::StepRecord> take(const std::string& line);
  /// The last step, if the output ended within it.
  std::optional<telemetry::StepRecord> finish();
  /// The series whose pattern has matched no line.
  std::vector<std::string> unmatched() const;

private:
  struct Series;
  void put(std::size_t series, double value, std::optional<telemetry::StepRecord>& completed,
           const std::optional<std::int64_t>& step);
  bool complete() const;
  telemetry::StepRecord close();

  std::vector<Series> series_;
  std::int64_t step_ = 0;                     ///< the present one, or the last one that was completed
  std::vector<std::optional<double>> values_; ///< of the present step, by series
};

} // namespace batchscope::program
