#include "ui/live/plan_layer.h"

#include <cmath>

#include "ui/plan/plan_handles.h"
#include "ui/plot/units.h"

namespace batchscope::ui {

PlanLayer::PlanLayer(LinkedPlots& plots, QUndoStack& undo, QObject* parent)
    : QObject(parent), plots_(plots), editor_(undo) {
  connect(&editor_, &PlanEditor::plan_changed, this, &PlanLayer::take_plan);
  connect(&plots, &LinkedPlots::handle_dragged, this, [this](qint64 id, double y) {
    if (planning() && id != limit_handle)
      editor_.drag(id, std::llround(y));
  });
  connect(&plots, &LinkedPlots::handle_dropped, this, [this](qint64 id, double y) {
    if (id == limit_handle)
      return;
    if (planning())
      return editor_.drop(id, std::llround(y));
    if (const QString why = refusal(); !why.isEmpty())
      Q_EMIT problem(why);
  });
  connect(&editor_, &PlanEditor::apply_refused, this, [this](const QString& error) {
    editor_.discard();
    Q_EMIT problem(tr("The plan was not changed: %1").arg(error));
  });
}

bool PlanLayer::planning() const {
  const OpenRun* run = editor_.run();
  return !series::is_time(axis_) && run != nullptr && run->running() && run->plannable();
}

/// Why a stretch that is let go now cannot be changed: the run may have ended since it was taken hold of.
QString PlanLayer::refusal() const {
  if (!shown_)
    return {};
  if (!shown_->running())
    return tr("The plan was not changed: %1").arg(PlanEditor::too_late(shown_));
  const QString fixed = shown_->not_steerable();
  return fixed.isEmpty() ? QString() : tr("The plan was not changed. %1.").arg(fixed);
}

void PlanLayer::show(OpenRun* run, series::Axis axis, std::optional<int> series) {
  axis_ = axis;
  shown_ = run;
  together_ = series.has_value();
  curves_.clear();
  peak_ = batch_ = micro_ = parts_ = coverage_ = nullptr;
  drawn_ = nullptr;
  OpenRun* edited = run != nullptr && (run->running() || run->status() == "loading") ? run : nullptr;
  if (editor_.run() != edited)
    editor_.edit_run(edited);
  if (planning()) {
    const auto style = [&](const QString& name, int of_its_own) {
      return CurveStyle{.name = name, .series = series.value_or(of_its_own), .dashed = true};
    };
    CurveStyle staircase = style(tr("planned, drag to change"), 2);
    staircase.steps = true;
    if (editor_.memory()) {
      CurveStyle predicted = style(tr("predicted"), 0);
      predicted.steps = true;
      peak_ = std::make_shared<DerivedCurve>();
      add(memory_panel, tr("peak, predicted"), peak_, predicted);
      micro_ = std::make_shared<DerivedCurve>();
      parts_ = std::make_shared<DerivedCurve>();
      CurveStyle micro = style({}, 4);
      micro.steps = true;
      add(batch_panel, tr("micro batches, predicted"), micro_, micro).parts = parts_;
    }
    batch_ = std::make_shared<DerivedCurve>();
    add(batch_panel, tr("batch, planned"), batch_, staircase);
    coverage_ = std::make_shared<DerivedCurve>();
    CurveStyle faint = style(tr("planned"), 3);
    faint.faint = true;
    faint.area = true;
    add(coverage_panel, tr("train_coverage, planned"), coverage_, faint);
  }
  take_plan();
}

LiveCurve& PlanLayer::add(int panel, const QString& name, const std::shared_ptr<DerivedCurve>& curve,
                          const CurveStyle& style) {
  plots_.add_curve(panel, curve, style);
  return curves_.emplace_back(LiveCurve{.name = name, .panel = panel, .source = curve, .style = style});
}

void PlanLayer::take_plan() {
  const auto& plan = editor_.plan();
  if (planning() && batch_ && plan && plan != drawn_) { // a run that was being read has no curves yet
    drawn_ = plan;
    const auto series = [&](const char* name, double scale = 1) {
      return std::make_shared<HistoryCurve>(plan->history, name, axis_, scale);
    };
    batch_->follow(series("batch"));
    coverage_->follow(series("train_coverage", to_percent));
    if (micro_) {
      const auto split = [memory = *editor_.memory(), limit = editor_.limit_bytes()](double batch) {
        return memory.split(std::llround(batch), limit);
      };
      micro_->follow(series("batch"), [split](double batch) { return split(batch).micro_batch; });
      parts_->follow(series("batch"), [split](double batch) { return split(batch).micro_batches; });
      peak_->follow(series("batch"), [memory = *editor_.memory(), split](double batch) {
        return static_cast<double>(memory.at(split(batch).micro_batch).bytes) * to_megabytes;
      });
    }
  }
  end_ = planning() && plan ? plan->history->position(plan->steps, axis_) : std::nullopt;
  plots_.set_end(end_);
  future_.reset();
  follow();
  const auto extent = peak_ ? peak_->extent() : std::nullopt;
  const auto range = extent ? peak_->range(extent->first, extent->second) : std::nullopt;
  highest_peak_ = range ? std::optional(range->second) : std::nullopt;
}

void PlanLayer::follow() {
  if (!planning()) {
    plots_.set_future(std::nullopt);
    plots_.set_handles(batch_panel, {});
    return;
  }
  const OpenRun& run = *editor_.run();
  const double here = run.history()->position(run.steps(), axis_).value_or(0);
  if (future_ == here)
    return;
  future_ = here;
  // With several runs, the later values of others are not a future.
  plots_.set_future(together_ ? std::nullopt : std::optional(here));
  for (const auto& curve : {batch_, coverage_, micro_, parts_, peak_}) {
    if (curve)
      curve->set_start(here);
  }
  show_handles();
}

void PlanLayer::show_handles() {
  QList<PlotHandle> handles;
  for (const PlanStretch& stretch : plan_stretches(editor_)) {
    const auto from = editor_.plan()->history->position(stretch.from, axis_);
    const auto to = editor_.plan()->history->position(stretch.to, axis_);
    if (!from || !to)
      continue;
    handles += {.id = stretch.name,
                .panel = batch_panel,
                .from = *from,
                .to = *to,
                .y = static_cast<double>(stretch.batch),
                .highest = static_cast<double>(stretch.highest),
                .good = stretch.good,
                .label = stretch.label};
  }
  plots_.set_handles(batch_panel, handles);
}

} // namespace batchscope::ui

#include "moc_plan_layer.cpp"
