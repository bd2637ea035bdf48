#pragma once

#include <QObject>
#include <QString>
#include <QStringList>

#include <filesystem>
#include <functional>
#include <memory>
#include <vector>

#include "core/exchange/import.h"
#include "ui/threads/ui_queue.h"

namespace batchscope::ui {

/// Runs whose files other programs still write: they grow in the database until stop(), or until this object is
/// destroyed, which waits until the files were read once more. A thread for each call of follow(). UI thread.
class FollowedImports : public QObject {
  Q_OBJECT

public:
  /// `stored` is called after each reading that changed the database, on any thread.
  FollowedImports(std::filesystem::path database, std::function<void()> stored, QObject* parent = nullptr);
  ~FollowedImports() override;

  /// Calls `begun` once the runs that are there were stored, or with an error, after which nothing is followed; unless
  /// `context` is gone.
  void follow(const QStringList& paths, const exchange::ImportOptions& options, QObject* context,
              std::function<void(const exchange::ImportResult&, const QString& error)> begun);
  void stop();
  /// Files and folders that are being followed.
  QStringList paths() const;

Q_SIGNALS:
  /// paths() has changed.
  void changed();
  /// Why files cannot be read or stored at present; empty once they can.
  void problem(const QString& text);

private:
  struct Following;

  void end(Following* following);

  const std::filesystem::path database_;
  const std::function<void()> stored_;
  UiQueue results_;
  std::vector<std::unique_ptr<Following>> all_; ///< last: their threads use all of the above
};

} // namespace batchscope::ui
