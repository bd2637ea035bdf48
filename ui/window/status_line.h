#pragma once

#include <QStatusBar>
#include <QTimer>

class QLabel;

namespace batchscope::ui {

class Pill;
class Workbench;

/// Device, budget and memory in use of the current run, threads, and whether all records are saved, or that the
/// database is read-only. UI thread.
class StatusLine : public QStatusBar {
  Q_OBJECT

public:
  explicit StatusLine(Workbench& workbench, QWidget* parent = nullptr);

Q_SIGNALS:
  /// Why what is measured cannot be stored at present; empty once it can.
  void not_storing(const QString& why);

protected:
  void showEvent(QShowEvent* event) override;
  void hideEvent(QHideEvent* event) override;

private:
  void refresh();
  void show_read_only();
  void show_threads();
  void show_followed();
  QString device_text() const;

  Workbench& workbench_;
  QLabel* device_;
  QLabel* threads_;
  QLabel* followed_;
  QLabel* stored_;
  Pill* read_only_;
  QString trouble_;
  QTimer timer_; ///< polls values that have no signals
};

} // namespace batchscope::ui
