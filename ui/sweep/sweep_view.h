#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "core/store/run_row.h"
#include "ui/sweep/metrics.h"
#include "ui/sweep/sweep_planner.h"

namespace batchscope::ui {

/// How far a run of a sweep has come.
enum class RunStage {
  planned,  ///< of a sweep that has not started
  missing,  ///< neither waits nor has ended: the sweep was stopped before it, or in the middle of it
  waiting,  ///< in the database
  starting, ///< a program has claimed it
  running,
  finished,
  ended, ///< skipped, or ended early
  failed,
};
/// Whether nothing more will happen to a run.
bool is_over(RunStage stage);

/// A run of a sweep as it is shown.
struct ShownRun {
  RunStage stage = RunStage::planned;
  std::optional<std::int64_t> run;
  std::optional<std::size_t> place; ///< among the waiting ones
  telemetry::RunOutcome outcome;    ///< of a run that has begun
  sweep::RunPrediction prediction;  ///< of one that has not ended; empty until it is predicted
  std::optional<double> seconds;    ///< how long it is expected to take, if that is known
  std::optional<double> progress;   ///< 0..1, of one that trains
  bool paused = false;              ///< of the one that trains, as far as this window knows

  /// Whether it is predicted that its batch does not fit, or that it cannot run.
  bool in_doubt() const { return !prediction.fits || !prediction.problem.empty(); }
};

/// A sweep as it is shown: the content with the results so far. A plain value.
struct SweepView {
  std::shared_ptr<const SweepContent> content;
  std::vector<ShownRun> runs; ///< by entry of the content

  std::size_t count(RunStage stage) const;
  std::size_t over() const; ///< runs that have ended
  /// Whether a program works at it, or runs wait for one.
  bool open() const { return count(RunStage::running) + count(RunStage::starting) + count(RunStage::waiting) > 0; }
  bool stored() const { return content && content->sweep.has_value(); }
  double seconds() const;                      ///< trained so far, over all runs
  std::optional<double> seconds_left() const;  ///< of the runs that have not ended and are not missing
  std::optional<std::size_t> training() const; ///< the first run that trains
};

/// `rows`: the runs of the database, in the order of their numbers.
SweepView view_of(const std::shared_ptr<const SweepContent>& content,
                  const std::shared_ptr<const RunPredictions>& predictions, const std::vector<store::RunRow>& rows);

/// `45 runs, about 9:20, highest peak 99.6 MB; 2 will not fit`, of the runs that have not begun.
QString prediction_text(const SweepView& view);
/// In a table: `waiting`, `finished, 2 OOM`, `failed`, `will not fit`.
QString stage_text(const ShownRun& run);
/// Explanation of the stage: why the run failed, ended or cannot run; empty if there is none.
QString stage_reason(const ShownRun& run);

} // namespace batchscope::ui
