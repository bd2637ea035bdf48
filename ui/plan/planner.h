#pragma once

#include <QObject>
#include <QString>

#include <memory>
#include <optional>

#include "core/data/data_pool.h"
#include "core/run/run_spec.h"
#include "core/run/run_start.h"
#include "core/schedule/plan.h"

namespace batchscope::ui {

/// A draft: a run that has not started, to be planned from its spec.
struct DraftPlan {
  run::RunSpec spec;
  std::int64_t batch = 1; ///< first nominal batch, also if the spec leaves it to a search
  /// Properties that a program has reported before, such as its examples and its length. Nothing for other runs.
  std::optional<run::RunStart> told;

  /// The run that was planned: with the first batch, unless that is the program's own.
  run::RunSpec run_spec() const;
};

/// Whether a training says when it ends; a program may not.
bool has_end(const run::RunStart& start);
/// The number of steps to plan for a training that has made `done` of them: without an end as many again, and some
/// epochs.
std::int64_t steps_to_plan(const run::RunStart& start, std::int64_t done);

/// Computes plans on a thread of its own; a new request replaces the one before. Also opens a draft's data there, to
/// count its examples. UI thread.
class Planner : public QObject {
  Q_OBJECT

public:
  /// `data` is shared with others, if given.
  explicit Planner(std::shared_ptr<data::DataPool> data = nullptr, QObject* parent = nullptr);
  ~Planner() override;

  void request(const schedule::PlanRequest& request);
  void request(const DraftPlan& draft);
  void cancel(); ///< discards the pending result

Q_SIGNALS:
  /// `further`: the same plan, or, of a training without an end, one with more steps.
  void planned(const std::shared_ptr<const batchscope::schedule::Plan>& plan,
               const std::shared_ptr<const batchscope::schedule::Plan>& further);
  void refused(const QString& error); ///< the schedule, its numbers or the data are invalid

private:
  class Impl;
  std::unique_ptr<Impl> impl_;
};

} // namespace batchscope::ui
