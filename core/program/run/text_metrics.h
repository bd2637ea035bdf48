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
/// comes for a later step. Values for steps before the present one are left out. One thread.
///
/// Without any group `step`, values are counted: one belongs to the present step, or, if that has one of the series
/// already, to the next. If some series name their step, values of others belong to the step of the same line, or else
/// to the last one that was named; before any was, to the first.
///
/// A series that begins with step 0 is counted from there: its step n is step n + 1 here. Where its count falls to a
/// tenth or less, as that of a progress bar does with each epoch, it goes on from the step before.
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
  struct Found;
  std::vector<Found> found_in(const std::string& line);
  void put(const Found& found, std::optional<telemetry::StepRecord>& completed);
  void put_named(const Found& found, std::int64_t step, std::optional<telemetry::StepRecord>& completed);
  bool is_open() const;
  bool complete() const;
  telemetry::StepRecord close();

  std::vector<Series> series_;
  bool names_steps_ = false;                  ///< some series does
  std::int64_t step_ = 0;                     ///< the present one, or the last one that was completed
  std::vector<std::optional<double>> values_; ///< of the present step, by series
};

} // namespace batchscope::program
