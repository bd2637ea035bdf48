#pragma once

#include <QObject>

#include <filesystem>
#include <memory>
#include <vector>

#include "core/compare/answer.h"
#include "core/store/run_row.h"
#include "ui/sweep/sweep_content.h"
#include "ui/threads/latest_task.h"

namespace batchscope::ui {

/// A stored sweep, for a list.
struct KnownSweep {
  std::int64_t id = 0;
  QString created; ///< UTC, ISO 8601
  sweep::SweepSpec spec;
};

/// Answer from the runs of a sweep so far.
struct SweepAnswer {
  compare::Answer answer;
  std::vector<std::int64_t> ties; ///< runs with settings without a clear difference from the best
};

/// Reads sweeps of the database and the answer of one, on a thread of its own. What a run was made with is read once.
/// UI thread.
class SweepReader : public QObject {
  Q_OBJECT

public:
  explicit SweepReader(std::filesystem::path database, QObject* parent = nullptr);
  ~SweepReader() override;

  /// Reads the list of sweeps, and this one with its answer for the goal. While it reads, further requests wait, and
  /// of these only the last one is done: updates that come faster than they can be read do not hold each other up.
  void read(std::optional<std::int64_t> sweep, const compare::Goal& goal);

Q_SIGNALS:
  /// All sweeps that can be read, oldest first.
  void listed(const std::vector<batchscope::ui::KnownSweep>& sweeps);
  void content_read(const std::shared_ptr<const batchscope::ui::SweepContent>& content);
  void answered(qint64 sweep, const std::shared_ptr<const batchscope::ui::SweepAnswer>& answer);
  void refused(qint64 sweep, const QString& why); ///< the sweep cannot be read

private:
  struct Request {
    std::optional<std::int64_t> sweep;
    compare::Goal goal;
  };
  class Cache;

  void start();
  void work(const Request& request, const LatestTask::Progress& progress);

  const std::filesystem::path database_;
  std::optional<Request> next_;
  bool busy_ = false;
  std::unique_ptr<Cache> cache_; ///< used by the task only
  LatestTask task_;              ///< last: it uses all of the above
};

} // namespace batchscope::ui
