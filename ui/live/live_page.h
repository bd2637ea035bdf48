#pragma once

#include <QPointer>
#include <QTimer>

#include <memory>
#include <optional>

#include "ui/live/event_marks.h"
#include "ui/live/limit_line.h"
#include "ui/live/live_curves.h"
#include "ui/workbench/page.h"
#include "ui/workbench/workbench.h"

class QScrollArea;
class QSplitter;
class QStackedWidget;

namespace batchscope::ui {

class BetweenCard;
class EventTable;
class OomCard;
class PlanLayer;
class ReadingCard;
class ReasonCard;
class RunHeader;
class ViewBar;

/// A run as it goes on, or as it went: memory, loss, batch size and coverage over one axis, what happened, and what it
/// will do next. Draws only while it is shown. UI thread.
class LivePage : public Page {
  Q_OBJECT

public:
  explicit LivePage(Workbench& workbench, QWidget* parent = nullptr);
  ~LivePage() override;

  QString key() const override { return "live"; }
  QString title() const override { return tr("Live"); }
  QString icon() const override { return "live"; }
  QList<QAction*> page_actions() const override;
  QList<KeyGroup> key_groups() const override;
  QUndoStack* undo_stack() override { return &workbench_.undo_stack(); }
  bool tells(const QString& problem) const override;
  QJsonObject state() const override;
  void restore(const QJsonObject& state) override;

protected:
  void showEvent(QShowEvent* event) override;
  bool eventFilter(QObject* watched, QEvent* event) override;

private:
  QWidget* make_content();
  QWidget* make_plots();
  QWidget* make_cards();
  void connect_parts();

  void show_runs();                ///< others were opened
  void show_content(bool content); ///< else how to begin a run
  void show_curves();              ///< all of them anew: another run, another axis, a run that ended
  QString caption() const;
  void take_records(); ///< more came
  void take_events();
  void update_texts();
  void update_readings();
  void move_cursors(series::Axis from, series::Axis to);
  /// What tells of a place on an axis: a run that came there, else the plan of the one that goes on.
  const series::History& history_at(double place, series::Axis axis) const;
  bool is_planned(const series::History& history) const;
  void choose(int event);
  void show_oom();
  void draw();

  Workbench& workbench_;
  QStackedWidget* stack_;
  RunHeader* header_;
  ReasonCard* reason_;
  LinkedPlots* plots_;
  ViewBar* view_;
  EventTable* events_;
  OomCard* oom_;
  ReadingCard* reading_;
  BetweenCard* between_;
  QScrollArea* cards_ = nullptr;
  QSplitter* splitter_ = nullptr;
  series::Axis axis_ = series::Axis::step; ///< drawn along
  LiveCurves curves_;
  EventMarks marks_;
  LimitLine limit_;
  PlanLayer* plan_;

  QList<QPointer<OpenRun>> runs_;     ///< drawn; the first is the current one
  qint64 current_ = 0;                ///< number of that; 0: none
  std::unique_ptr<QObject> watching_; ///< context of what is connected to them
  std::optional<int> chosen_;         ///< event, by the user
  std::optional<int> shown_oom_;
  std::optional<int> latest_oom_;
  std::size_t seen_events_ = 0; ///< searched for latest_oom_
  bool was_running_ = false;
  QTimer texts_;      ///< paces what changes with every step
  QTimer new_events_; ///< several that come at once are taken in at once
  QTimer smoothing_;  ///< works off what is still to be smoothed
};

} // namespace batchscope::ui
