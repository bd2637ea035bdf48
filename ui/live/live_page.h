#pragma once

#include <QPointer>
#include <QTimer>

#include <memory>
#include <optional>

#include "ui/findings/adviser.h"
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
class FindingsCard;
class OomCard;
class PlanLayer;
class PlotStack;
class ReadingCard;
class ReasonCard;
class RunHeader;
class RunTabs;
class ViewBar;

/// A run in progress or a past run: memory, loss, batch size and coverage over a common x axis, its events and its
/// plan. Draws only while it is visible. UI thread.
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
  bool shows_problem(const QString& problem) const override;
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

  void show_runs();                ///< other runs were opened
  void show_content(bool content); ///< false: show how to start a run
  void show_curves();              ///< rebuilds all curves: another run, another axis, a run that ended
  bool is_known(series::Axis axis) const;
  bool outdated() const;
  void change_axis();
  QString caption() const;
  void take_records(); ///< new records
  void take_events();
  void update_texts();
  void update_readings();
  void move_cursors(series::Axis from, series::Axis to);
  /// Returns the history that covers a place on an axis: that of a run that has reached it, else the plan of the
  /// running one.
  const series::History& history_at(double place, series::Axis axis) const;
  bool is_planned(const series::History& history) const;
  void show_output();
  void choose(int event);
  void show_oom();
  void judge(); ///< asks for the findings on the current run
  void show_findings(const std::vector<advice::RunFindings>& findings);
  void draw();

  Workbench& workbench_;
  QStackedWidget* stack_;
  RunHeader* header_;
  ReasonCard* reason_;
  LinkedPlots* plots_;
  PlotStack* stacked_ = nullptr;
  ViewBar* view_;
  RunTabs* tabs_;
  EventTable* events_; ///< one of the tabs
  OomCard* oom_;
  ReadingCard* reading_;
  BetweenCard* between_;
  FindingsCard* findings_;
  Adviser adviser_;
  QAction* search_action_ = nullptr;
  QScrollArea* cards_ = nullptr;
  QSplitter* splitter_ = nullptr;
  series::Axis axis_ = series::Axis::step; ///< x axis of the plots
  LiveCurves curves_;
  EventMarks marks_;
  LimitLine limit_;
  PlanLayer* plan_;

  QList<QPointer<OpenRun>> runs_;     ///< runs in the plots; the first is the current one
  qint64 current_ = 0;                ///< number of the current run; 0: none
  std::unique_ptr<QObject> watching_; ///< context of the connections to them
  std::optional<int> chosen_;         ///< event selected by the user
  std::optional<int> shown_oom_;
  std::optional<int> latest_oom_;
  std::size_t seen_events_ = 0; ///< events already searched for latest_oom_
  bool was_running_ = false;
  QTimer texts_;      ///< limits the rate of updates that come with every step
  QTimer new_events_; ///< combines events that arrive together
  QTimer smoothing_;  ///< drives the smoothing of remaining values
};

} // namespace batchscope::ui
