#pragma once

#include <QTimer>

#include "ui/compare/comparer.h"
#include "ui/compare/comparison_view.h"
#include "ui/compare/run_scope.h"
#include "ui/findings/adviser.h"
#include "ui/workbench/page.h"
#include "ui/workbench/workbench.h"

class QComboBox;
class QLabel;
class QSplitter;
class QStackedWidget;

namespace batchscope::ui {

class AnswerBanner;
class Card;
class CompareHeader;
class CompareTable;
class CurvesCard;
class EmptyState;
class ParallelPlot;
class RunExport;
class ScatterPlot;

/// Says which settings are best for a goal, and how sure that is, and shows the evidence: parallel coordinates, two
/// fields against each other, curves and a table, in which the same runs are marked. UI thread.
class ComparePage : public Page {
  Q_OBJECT

public:
  explicit ComparePage(Workbench& workbench, QWidget* parent = nullptr);
  ~ComparePage() override;

  QString key() const override { return QStringLiteral("compare"); }
  QString title() const override { return tr("Compare"); }
  QString icon() const override { return QStringLiteral("compare"); }
  QList<QAction*> page_actions() const override { return actions_; }
  QList<KeyGroup> key_groups() const override;
  QJsonObject state() const override;
  void restore(const QJsonObject& state) override;

  ComparisonView& view() { return view_; }

protected:
  void showEvent(QShowEvent* event) override;

private:
  QWidget* make_body();
  QWidget* make_scatter();
  void make_actions();
  void follow();
  // The comparison.
  void set_scope(const RunScope& scope);
  void request(); ///< soon, with what the database has by then
  void compare_now();
  void compared(); ///< the last request is done
  void show_sweeps();
  void take(const std::shared_ptr<const Comparison>& comparison);
  void filter(const QString& text);
  void ask_for_answer();
  void show_answer(const compare::Answer& answer);
  void show_place();
  void judge();
  // The parts.
  void fill_scatter_fields();
  void open_marked();
  void ask_for_value();
  std::vector<std::int64_t> exported_runs() const;
  // Saved views.
  void fill_views_menu();
  void ask_for_view_name();
  QJsonObject content() const; ///< of a saved view: everything but which runs
  void show_content(const QJsonObject& content);

  Workbench& workbench_;
  Comparer comparer_;
  Adviser adviser_;
  ComparisonView view_;
  QString selected_by_; ///< title of a result by which the filter selects runs; empty: none
  RunScope scope_;
  std::vector<SeriesAt> values_; ///< columns that were asked for
  QTimer soon_;
  bool stale_ = true; ///< the runs are to be read when the page is seen
  bool comparing_ = false;
  bool changed_meanwhile_ = false; ///< the database, while runs were compared
  QList<QAction*> actions_;
  QAction* report_ = nullptr;
  QAction* baseline_ = nullptr;
  RunExport* export_ = nullptr;

  CompareHeader* header_ = nullptr;
  QStackedWidget* places_ = nullptr;
  EmptyState* empty_ = nullptr;
  QLabel* waiting_ = nullptr;
  AnswerBanner* answer_ = nullptr;
  QSplitter* rows_ = nullptr;
  QSplitter* plots_ = nullptr;
  ParallelPlot* parallel_ = nullptr;
  ScatterPlot* scatter_ = nullptr;
  QComboBox* scatter_x_ = nullptr;
  QComboBox* scatter_y_ = nullptr;
  QString wanted_x_, wanted_y_; ///< the user's choice; empty: the default
  CurvesCard* curves_ = nullptr;
  CompareTable* table_ = nullptr;
};

} // namespace batchscope::ui
