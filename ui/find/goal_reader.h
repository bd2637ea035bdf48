#pragma once

#include <QObject>

#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>

#include "core/compare/answer.h"
#include "ui/threads/latest_task.h"

namespace batchscope::ui {

/// Results so far of training the sizes of a search.
struct TrainedSizes {
  std::int64_t sweep = 0;
  std::string goal;        ///< as on the command line: `target:97%`
  std::size_t planned = 0; ///< runs
  std::size_t ended = 0;   ///< of them
  compare::Answer answer;  ///< its standings are the sizes
};

/// Reads the newest sweep that trains the sizes of a search, on a thread of its own. UI thread.
class GoalReader : public QObject {
  Q_OBJECT

public:
  explicit GoalReader(std::filesystem::path database, QObject* parent = nullptr);

  void read(std::int64_t search);
  void cancel() { task_.cancel(); }

Q_SIGNALS:
  /// Null if its sizes have not been trained.
  void was_read(qint64 search, const std::shared_ptr<const batchscope::ui::TrainedSizes>& sizes);

private:
  std::filesystem::path database_;
  LatestTask task_; ///< last: it uses all of the above
};

} // namespace batchscope::ui
