#pragma once

#include <QWidget>

#include "ui/opened_runs/open_run.h"

class QStackedWidget;
class QTabBar;

namespace batchscope::ui {

class EventTable;
class OutputView;
class Theme;

/// Below the plots: the events of a run, and, of a program of the user's own, its output in a tab beside them. UI
/// thread.
class RunTabs : public QWidget {
  Q_OBJECT

public:
  explicit RunTabs(const Theme& theme, QWidget* parent = nullptr);

  EventTable& events() { return *events_; }
  OutputView& output() { return *output_; }
  /// Its output, if it has one, or none; null: no run.
  void show_output_of(const OpenRun* run);
  bool has_output() const { return has_output_; }
  void search_output();

  /// Whether the user has chosen the output last; kept while a run has none.
  bool prefers_output() const { return prefers_output_; }
  void prefer_output(bool output);

private:
  void show_tab();

  QTabBar* bar_;
  QStackedWidget* stack_;
  EventTable* events_;
  OutputView* output_;
  bool has_output_ = false;
  bool prefers_output_ = false;
};

} // namespace batchscope::ui
