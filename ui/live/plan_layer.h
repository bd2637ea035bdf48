#pragma once

#include <QObject>

#include <memory>
#include <vector>

#include "ui/live/live_curves.h"
#include "ui/plan/plan_editor.h"
#include "ui/plot/derived_curve.h"

namespace batchscope::ui {

/// The plan of a run beyond its current step, drawn in the plots: planned batch, coverage and predicted memory, with
/// handles for dragging. Draws nothing for a run that has ended. UI thread.
class PlanLayer : public QObject {
  Q_OBJECT

public:
  PlanLayer(LinkedPlots& plots, QUndoStack& undo, QObject* parent = nullptr);

  /// Adds the curves of this run's plan (null: none) along `axis`; call it after the plots' curves were cleared.
  /// Nothing is planned on an axis of time. `series`: colour of all curves, if runs have a colour each.
  void show(OpenRun* run, series::Axis axis, std::optional<int> series);
  /// Moves the start of the plan to the run's current step.
  void follow();

  PlanEditor& editor() { return editor_; }
  const std::vector<LiveCurve>& curves() const { return curves_; }
  /// Highest planned peak from here on in MB; nothing without a memory prediction.
  std::optional<double> highest_peak() const { return highest_peak_; }
  /// Where the plan of a run that goes on ends on the x axis, if that is known.
  std::optional<double> end() const { return end_; }

Q_SIGNALS:
  void problem(const QString& text);

private:
  void take_plan();
  void show_handles();
  LiveCurve& add(int panel, const QString& name, const std::shared_ptr<DerivedCurve>& curve, const CurveStyle& style);
  bool planning() const;
  QString refusal() const;

  LinkedPlots& plots_;
  PlanEditor editor_;
  QPointer<OpenRun> shown_; ///< whether or not it is planned
  series::Axis axis_ = series::Axis::step;
  std::shared_ptr<DerivedCurve> peak_;
  std::shared_ptr<DerivedCurve> batch_;
  std::shared_ptr<DerivedCurve> micro_;
  std::shared_ptr<DerivedCurve> parts_;
  std::shared_ptr<DerivedCurve> coverage_;
  std::vector<LiveCurve> curves_;
  std::shared_ptr<const schedule::Plan> drawn_;
  bool together_ = false; ///< several runs are shown
  std::optional<double> future_;
  std::optional<double> highest_peak_, end_;
};

} // namespace batchscope::ui
