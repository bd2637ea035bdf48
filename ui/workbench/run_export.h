#pragma once

#include <QList>
#include <QObject>

#include <cstdint>
#include <functional>
#include <vector>

class QAction;
class QWidget;

namespace batchscope::ui {

class Workbench;

/// Exports runs of a page: one action per format asks for a file and writes it in the background; the workbench reports
/// the outcome. UI thread.
class RunExport : public QObject {
  Q_OBJECT

public:
  /// `runs`: those to export when an action is triggered, in their order.
  RunExport(Workbench& workbench, QWidget& page, std::function<std::vector<std::int64_t>()> runs);

  const QList<QAction*>& actions() const { return actions_; } ///< owned by this
  /// Asks for a file in this format, one of exchange::export_formats().
  void ask(const QString& format);

Q_SIGNALS:
  void written(const QString& file, const QString& format);

private:
  void write(const std::vector<std::int64_t>& runs, const QString& format, const QString& file);
  QString name_of(std::int64_t id) const;

  Workbench& workbench_;
  QWidget& page_;
  std::function<std::vector<std::int64_t>()> runs_;
  QList<QAction*> actions_;
};

} // namespace batchscope::ui
