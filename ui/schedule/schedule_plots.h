#pragma once

#include <QWidget>

#include <memory>

#include "ui/plan/plan_editor.h"
#include "ui/plot/derived_curve.h"
#include "ui/plot/linked_plots.h"

namespace batchscope::ui {

/// Plots of a whole training by optimizer step: batch size, memory, coverage, epoch, learning rate. Past steps are
/// solid; planned steps are dashed, with handles for dragging.
class SchedulePlots : public QWidget {
  Q_OBJECT

public:
  explicit SchedulePlots(const Theme& theme, QWidget* parent = nullptr);

  /// The editor edits another run or draft.
  void show_edited(const PlanEditor& editor);
  /// The plan or the run has changed.
  void update_plan(const PlanEditor& editor);
  /// The run has made steps.
  void follow(const PlanEditor& editor);
  LinkedPlots& plots() { return *plots_; }

Q_SIGNALS:
  void dragged(qint64 stretch, qint64 batch); ///< `stretch`: a name of PlanEditor
  void dropped(qint64 stretch, qint64 batch);
  void budget_dropped(double bytes);

private:
  enum Panel { batch, memory, coverage, epoch, rate, panel_count };
  /// A value per step: past and planned.
  struct Value {
    Panel panel;
    const char* series;
    double scale;
    CurveStyle style;
    QString planned;
    std::shared_ptr<DerivedCurve> curve;
  };

  static bool has_future(const PlanEditor& editor);
  QStringList told(const PlanEditor& editor) const;
  void add_happened(const OpenRun& run);
  void follow_plan(const PlanEditor& editor);
  static CurveStyle micro_style(bool named);
  void show_in_parts(bool in_parts);
  void show_limit(const PlanEditor& editor, double planned_peak);
  void show_handles(const PlanEditor& editor);
  void show_marks(const PlanEditor& editor);

  LinkedPlots* plots_;
  std::vector<Value> values_;
  std::shared_ptr<DerivedCurve> whole_;  ///< memory of the unsplit batch
  std::shared_ptr<DerivedCurve> as_run_; ///< memory of the batch as it is split
  std::shared_ptr<DerivedCurve> micro_;  ///< largest micro batch of the split
  std::shared_ptr<const schedule::Plan> drawn_;
  std::int64_t edited_ = 0; ///< number of the run; 0: a draft
  bool future_drawn_ = false;
  QStringList told_; ///< series that were drawn
  bool in_parts_ = false;
  int micro_curve_ = 0;
};

} // namespace batchscope::ui
