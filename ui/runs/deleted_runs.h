#pragma once

#include <QDialog>

#include <cstdint>
#include <vector>

#include "core/store/run_row.h"

class QListWidget;

namespace batchscope::ui {

/// Lists the runs that are marked as deleted, to choose those that come back. UI thread.
class DeletedRuns : public QDialog {
  Q_OBJECT

public:
  /// `runs`: as store::RunReader::deleted() gives them; the newest is first in the list. All are chosen if there is
  /// one.
  explicit DeletedRuns(const std::vector<store::RunRow>& runs, QWidget* parent = nullptr);

Q_SIGNALS:
  void restored(const std::vector<std::int64_t>& runs);

private:
  std::vector<std::int64_t> chosen() const;

  QListWidget* list_;
};

} // namespace batchscope::ui
