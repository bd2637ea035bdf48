#pragma once

#include <QObject>

#include <memory>
#include <vector>

#include "ui/live/live_curves.h"
#include "ui/plan/plan_editor.h"
#include "ui/plot/derived_curve.h"

namespace batchscope::ui {

/// What a run will do from here on, drawn on the plots: planned batch, coverage and predicted memory, and handles to
/// drag the plan by. A finished run has no future. UI thread.
class PlanLayer : public QObject {
  Q_OBJECT

public:
  PlanLayer(LinkedPlots& plots, QUndoStack& undo, QObject* parent = nullptr);

  /// Adds its curves for this run (null: none), which is drawn along `axis`; to be called when the plots' curves were
  /// taken away. Along time nothing is planned. `series`: of all curves, where runs have a colour each.
  void show(OpenRun* run, series::Axis axis, std::optional<int> series);
  /// Moves the beginning of the future to where the run is now.
  void follow();

  PlanEditor& editor() { return editor_; }
  const std::vector<LiveCurve>& curves() const { return curves_; }
  /// Highest peak that is planned from here on, in MB; nothing where none is foretold.
  std::optional<double> highest_peak() const { return highest_peak_; }

Q_SIGNALS:
  void problem(const QString& text);

private:
  void take_plan();
  void show_handles();
  LiveCurve& add(int panel, const QString& name, const std::shared_ptr<DerivedCurve>& curve, const CurveStyle& style);
  bool planning() const;

  LinkedPlots& plots_;
  PlanEditor editor_;
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
  std::optional<double> highest_peak_;
};

} // namespace batchscope::ui
