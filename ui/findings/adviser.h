#pragma once

#include <QObject>

#include <filesystem>
#include <vector>

#include "core/advice/lint.h"
#include "ui/threads/latest_task.h"

namespace batchscope::ui {

/// Judges stored runs by the rules of core/advice, on a thread of its own. UI thread.
class Adviser : public QObject {
  Q_OBJECT

public:
  explicit Adviser(std::filesystem::path database, QObject* parent = nullptr);

  /// Judges these runs beside their sweeps, replacing an earlier request. Emits judged().
  void judge(std::vector<std::int64_t> runs);

Q_SIGNALS:
  /// In the order of the request, without runs that are gone.
  void judged(const std::vector<batchscope::advice::RunFindings>& findings);

private:
  const std::filesystem::path database_;
  LatestTask task_;
};

} // namespace batchscope::ui
