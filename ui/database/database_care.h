#pragma once

#include <QObject>

#include <filesystem>
#include <functional>

#include "ui/threads/ui_queue.h"
#include "ui/threads/worker_thread.h"

namespace batchscope::ui {

/// Copies, merges and repairs of whole databases, on a thread of its own, in the order in which they are asked for. UI
/// thread.
class DatabaseCare : public QObject {
  Q_OBJECT

public:
  /// Gets what was done, as a sentence, or why it was not.
  using Done = std::function<void(const QString& said, const QString& problem)>;

  /// `database`: the one that is open.
  DatabaseCare(std::filesystem::path database, QObject* parent);

  /// See store::back_up(), with force: the user has been asked.
  void back_up(const QString& target, Done done);
  /// Adds the runs of another database to the open one; see store::merge().
  void merge(const QString& other, Done done);
  /// See store::repair_copy().
  void repair_copy(const QString& target, Done done);
  /// Whether a file can be opened as a database, or made.
  void check(const QString& file, Done done);

  bool idle() const { return working_ == 0; }

Q_SIGNALS:
  void idle_now();

private:
  void start(std::function<QString()> work, Done done);

  const std::filesystem::path database_;
  int working_ = 0;
  UiQueue results_;
  WorkerThread thread_; ///< last: its destructor waits
};

} // namespace batchscope::ui
