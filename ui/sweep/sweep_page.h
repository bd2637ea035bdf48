#pragma once

#include <QPointer>

#include <memory>
#include <optional>
#include <set>
#include <vector>

#include "core/compare/answer.h"
#include "core/store/run_reader.h"
#include "ui/sweep/sweep_planner.h"
#include "ui/sweep/sweep_reader.h"
#include "ui/sweep/sweep_view.h"
#include "ui/workbench/page.h"
#include "ui/workbench/workbench.h"

class QComboBox;
class QSplitter;
class QStackedWidget;

namespace batchscope::ui {

class AnswerBanner;
class Card;
class CellsPicture;
class ColorLegend;
class EmptyState;
class GoalBox;
class HowCard;
class NowCard;
class SweepCharts;
class SweepHeader;
class SweepTable;
class VaryCard;

/// The page for sweeps: plans one and starts it, shows how it fills, what its answer is so far, and what can be done
/// with its runs. All that it shows of a stored sweep comes from the database, so that it does not matter which program
/// works at it.
class SweepPage : public Page {
  Q_OBJECT

public:
  explicit SweepPage(Workbench& workbench, QWidget* parent = nullptr);

  QString key() const override { return QStringLiteral("sweep"); }
  QString title() const override { return tr("Sweep"); }
  QString icon() const override { return QStringLiteral("sweep"); }
  QList<QAction*> page_actions() const override;
  QList<KeyGroup> key_groups() const override;
  QJsonObject state() const override;
  void restore(const QJsonObject& state) override;

  /// Shows a stored sweep, or the plan of a new one.
  void show_sweep(std::optional<std::int64_t> sweep);
  const std::optional<std::int64_t>& shown() const { return shown_; }
  const SweepView& view() const { return view_; }

protected:
  void showEvent(QShowEvent* event) override;
  void hideEvent(QHideEvent* event) override;

private:
  enum class Stage { planning, queued, running, paused, waiting, stopped, finished };

  // --- what is shown ---
  void make_body();
  QWidget* make_side();
  QWidget* make_picture_card();
  QWidget* make_table_card();
  void follow_workbench();
  void follow_reader();
  void watch(Job* job);
  void take_rows(const store::ListChanges& changes);
  void take_content(const std::shared_ptr<const SweepContent>& content);
  void take_answer(qint64 sweep, const std::shared_ptr<const SweepAnswer>& answer);
  void read_again();
  void predict_rest();
  void refresh();
  void refresh_view();
  void show_header();
  void show_banner();
  void show_metric();
  void show_no_plan(const QString& why);
  void show_error(const QString& error); ///< at the field that it names, if it is here
  void allow_actions();

  // --- what is done ---
  void make_actions();
  QAction* add_action(const QString& name, const QString& text, const QString& tip, const QKeySequence& keys,
                      void (SweepPage::*slot)());
  void take_edits();
  void request_plan();
  void count_additions(const sweep::Extension& wanted);
  void start();
  void add_runs();
  void resume();
  void pause_or_continue();
  void stop();
  void compare_runs();
  void open_runs();
  void move_up() { move_chosen(true); }
  void move_down() { move_chosen(false); }
  void move_chosen(bool up);
  void skip_chosen();
  void stop_chosen();
  void plan_like_this();
  void plan_anew();
  void propose(const run::RunSpec& base);
  void set_metric(int index);
  void take_goal();
  void send_to_running(const char* verb);

  bool planning() const { return !shown_ && (planning_ || !known_.empty()); }
  Stage stage() const;
  bool works_at(std::int64_t sweep) const;
  Job* own_job() const; ///< that works at the shown sweep, or waits to; null if none does
  std::vector<std::int64_t> begun_of(const std::vector<std::size_t>& entries) const;
  std::vector<std::size_t> chosen_in(RunStage stage) const;

  Workbench& workbench_;
  SweepReader reader_;
  SweepPlanner planner_;
  LatestTask counting_; ///< runs that an edit would add

  std::vector<KnownSweep> known_;
  std::optional<std::int64_t> shown_; ///< stored sweep; nothing: the plan
  bool unread_ = true;                ///< the database has changed since it was read
  bool chosen_by_user_ = false;       ///< what is shown is no longer replaced by the newest sweep
  bool planning_ = false;             ///< a plan was begun, and is shown instead of the empty page
  sweep::SweepSpec plan_;
  QString plan_error_;
  sweep::Extension extension_; ///< of the stored sweep, as edited
  std::size_t additions_ = 0;
  std::shared_ptr<const SweepContent> content_;
  std::shared_ptr<const RunPredictions> predictions_;
  std::shared_ptr<const SweepAnswer> answer_;
  SweepView view_;
  Metric metric_ = Metric::accuracy;
  bool metric_chosen_ = false; ///< by the user
  compare::Goal goal_;
  QPointer<Job> starting_; ///< the job of the plan, until its sweep is stored

  QAction* start_ = nullptr;
  QAction* add_ = nullptr;
  QAction* resume_ = nullptr;
  QAction* pause_ = nullptr;
  QAction* stop_ = nullptr;
  QAction* compare_ = nullptr;
  QAction* open_ = nullptr;
  QAction* up_ = nullptr;
  QAction* down_ = nullptr;
  QAction* skip_ = nullptr;
  QAction* stop_run_ = nullptr;
  QAction* like_this_ = nullptr;
  QAction* new_ = nullptr;

  SweepHeader* header_ = nullptr;
  AnswerBanner* banner_ = nullptr;
  QStackedWidget* stack_ = nullptr;
  EmptyState* empty_ = nullptr;
  QWidget* body_ = nullptr;
  VaryCard* vary_ = nullptr;
  HowCard* how_ = nullptr;
  NowCard* now_ = nullptr;
  QWidget* picture_card_ = nullptr;
  Card* charts_card_ = nullptr;
  SweepCharts* charts_ = nullptr;
  QLabel* picture_title_ = nullptr;
  QWidget* choices_ = nullptr; ///< of metric and goal
  QComboBox* metric_box_ = nullptr;
  GoalBox* goal_box_ = nullptr;
  ColorLegend* legend_ = nullptr;
  CellsPicture* picture_ = nullptr;
  QLabel* caption_ = nullptr;
  SweepTable* table_ = nullptr;
  QSplitter* splitter_ = nullptr;
  QString split_; ///< as the user has moved it; empty: not
};

} // namespace batchscope::ui
