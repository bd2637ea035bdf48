#pragma once

#include <QObject>
#include <QString>

#include <memory>
#include <optional>

#include "core/data/data_pool.h"
#include "core/run/run_spec.h"
#include "core/schedule/plan.h"

namespace batchscope::ui {

/// What is to be planned: a run from its spec, before anything runs.
struct DraftPlan {
  run::RunSpec spec;
  std::int64_t batch = 1; ///< the first one, also where the spec leaves it to a search
};

/// Makes plans on a thread of its own; a new request supersedes the one before. Opens a draft's data there, too, to
/// count its examples. UI thread.
class Planner : public QObject {
  Q_OBJECT

public:
  /// With the data that others use, if they are given.
  explicit Planner(std::shared_ptr<data::DataPool> data = nullptr, QObject* parent = nullptr);
  ~Planner() override;

  void request(const schedule::PlanRequest& request);
  void request(const DraftPlan& draft);
  void cancel(); ///< what was requested last is not told any more

Q_SIGNALS:
  void planned(const std::shared_ptr<const batchscope::schedule::Plan>& plan);
  void refused(const QString& error); ///< the schedule, its numbers or the data are wrong

private:
  class Impl;
  std::unique_ptr<Impl> impl_;
};

} // namespace batchscope::ui
