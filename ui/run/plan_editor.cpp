#include "ui/run/plan_editor.h"

#include <QUndoCommand>

#include <algorithm>

namespace batchscope::ui {

/// One change of a plan, to be undone and done again.
class PlanEditor::Change : public QUndoCommand {
public:
  Change(PlanEditor& editor, Wish before, Wish after)
      : QUndoCommand(tr("schedule %1").arg(after.schedule)), editor_(&editor), run_(editor.run_),
        of_run_(editor.run_ != nullptr), before_(std::move(before)), after_(std::move(after)) {}

  void undo() override { put_in(before_); }
  void redo() override { put_in(after_); }

private:
  /// What was edited may be closed or over by now; then there is nothing to change.
  void put_in(const Wish& wish) {
    const bool same = editor_ && editor_->run_ == run_ && (!of_run_ || (run_ && run_->running()));
    if (same)
      editor_->put_in(wish);
    else
      setObsolete(true);
  }

  QPointer<PlanEditor> editor_;
  QPointer<OpenRun> run_;
  bool of_run_;
  Wish before_;
  Wish after_;
};

PlanEditor::PlanEditor(QUndoStack& undo, QObject* parent) : QObject(parent), undo_(undo) {
  connect(&planner_, &Planner::planned, this, &PlanEditor::take_plan);
  connect(&planner_, &Planner::refused, this, &PlanEditor::set_error);
}

PlanEditor::~PlanEditor() = default;

void PlanEditor::forget() {
  preview_.reset();
  dragging_ = false;
  plan_.reset();
  planned_before_.reset();
  segments_.clear();
  memory_.reset();
  limit_ = 0;
}

void PlanEditor::edit_run(OpenRun* run) {
  if (run_)
    run_->disconnect(this);
  forget();
  run_ = run;
  if (run_) {
    connect(run_, &OpenRun::described, this, &PlanEditor::follow_run);
    connect(run_, &OpenRun::plan_changed, this, &PlanEditor::replan);
    // Stretches that have become past cannot be dragged any more.
    connect(run_, &OpenRun::grew, this, [this] {
      if (plan_ && !segments_.empty() && !dragging_ &&
          segments_.front().first_step + segments_.front().steps <= changeable_from())
        take_plan(plan_);
    });
    connect(run_, &OpenRun::status_changed, this, &PlanEditor::plan_changed);
    follow_run();
  }
  set_error({});
  Q_EMIT plan_changed();
}

void PlanEditor::follow_run() {
  if (!run_ || !run_->start())
    return;
  memory_ = run_->start()->memory;
  limit_ = run_->start()->budget_bytes;
  replan();
}

void PlanEditor::edit_draft(const DraftPlan& draft) {
  if (run_)
    run_->disconnect(this);
  const auto memory = memory_;
  const std::uint64_t limit = limit_;
  const auto plan = plan_;
  forget();
  if (!run_) {
    memory_ = memory;
    limit_ = limit;
    plan_ = plan; // until the new one is made
  }
  run_ = nullptr;
  draft_ = draft;
  replan();
}

void PlanEditor::set_memory(const std::optional<predict::PeakCurve>& memory, std::uint64_t limit_bytes) {
  memory_ = memory;
  limit_ = limit_bytes;
  Q_EMIT plan_changed();
}

std::optional<predict::Split> PlanEditor::split(std::int64_t batch) const {
  if (!memory_ || limit_ == 0)
    return std::nullopt;
  return memory_->split(batch, limit_);
}

std::int64_t PlanEditor::changeable_from() const {
  return run_ ? run_->steps() + 1 : 1;
}

/// What the plan's schedule is without a preview. For a run as it would go on from here.
PlanEditor::Wish PlanEditor::present() const {
  if (!run_)
    return {QString::fromStdString(draft_.spec.schedule), draft_.batch};
  if (run_->pending_edit())
    return {QString::fromStdString(run_->pending_edit()->schedule), run_->pending_edit()->batch};
  const auto request = run_->plan_request();
  return {QString::fromStdString(request.edits.empty() ? run_->spec().schedule : request.edits.back().schedule),
          std::nullopt};
}

QString PlanEditor::schedule() const {
  return preview_ ? preview_->schedule : present().schedule;
}

void PlanEditor::type(const QString& schedule) {
  dragging_ = false;
  preview_ = Wish{schedule.trimmed(), run_ ? std::nullopt : std::optional(draft_.batch)};
  replan();
}

void PlanEditor::drag(std::size_t segment, std::int64_t batch) {
  if (segment >= segments_.size())
    return;
  dragging_ = true;
  segments_[segment].batch = std::max<std::int64_t>(batch, 1);
  segments_[segment].exact = true;
  const auto text = schedule::piecewise_text(segments_, changeable_from() - 1);
  const auto next = std::find_if(segments_.rbegin(), segments_.rend(), [this](const schedule::PlanSegment& candidate) {
    return candidate.first_step <= changeable_from();
  });
  preview_ = Wish{QString::fromStdString(text), next == segments_.rend() ? segments_.front().batch : next->batch};
  replan();
}

void PlanEditor::discard() {
  if (!preview_)
    return;
  preview_.reset();
  dragging_ = false;
  replan();
}

void PlanEditor::apply() {
  if (!preview_ || !error_.isEmpty())
    return;
  Wish before = present();
  // Ramps count from where they are put in, so a run goes back to the sizes of the plan that it had.
  if (run_ && planned_before_ && !planned_before_->outline.empty()) {
    before = {QString::fromStdString(schedule::piecewise_text(planned_before_->outline, changeable_from() - 1)),
              std::nullopt};
    for (const auto& segment : planned_before_->outline)
      if (segment.first_step <= changeable_from())
        before.batch = segment.batch;
  }
  const Wish after = *preview_;
  preview_.reset();
  dragging_ = false;
  undo_.push(new Change(*this, before, after));
}

void PlanEditor::put_in(const Wish& wish) {
  preview_.reset();
  dragging_ = false;
  if (run_) {
    run_->edit({wish.schedule.toStdString(), wish.batch}); // says plan_changed, which plans anew
    return;
  }
  draft_.spec.schedule = wish.schedule.toStdString();
  draft_.batch = wish.batch.value_or(draft_.batch);
  if (draft_.spec.batch.kind == train::BatchChoice::Kind::number)
    draft_.spec.batch.number = draft_.batch;
  Q_EMIT draft_changed(wish.schedule);
  replan();
}

void PlanEditor::replan() {
  if (!run_) {
    DraftPlan draft = draft_;
    if (preview_) {
      draft.spec.schedule = preview_->schedule.toStdString();
      draft.batch = preview_->batch.value_or(draft.batch);
      if (draft.spec.batch.kind == train::BatchChoice::Kind::number)
        draft.spec.batch.number = draft.batch;
    }
    planner_.request(draft);
    return;
  }
  if (!run_->start())
    return;
  schedule::PlanRequest request;
  try {
    request = run_->plan_request();
  } catch (const std::exception& error) {
    return set_error(QString::fromUtf8(error.what()));
  }
  const auto wish =
      preview_ ? preview_
      : run_->pending_edit()
          ? std::optional(Wish{QString::fromStdString(run_->pending_edit()->schedule), run_->pending_edit()->batch})
          : std::nullopt;
  if (wish)
    request.edits.push_back({changeable_from() - 1, wish->schedule.toStdString(), wish->batch});
  request.outline_from = changeable_from();
  planner_.request(request);
}

void PlanEditor::take_plan(const std::shared_ptr<const schedule::Plan>& plan) {
  plan_ = plan;
  if (!preview_) {
    planned_before_ = plan;
    if (run_)
      run_->set_planned(*plan);
  }
  if (!dragging_) {
    segments_.clear();
    for (auto segment : plan->outline) {
      const std::int64_t end = segment.first_step + segment.steps;
      if (end <= changeable_from())
        continue;
      segment.first_step = std::max(segment.first_step, changeable_from());
      segment.steps = end - segment.first_step;
      segments_.push_back(segment);
    }
    if (run_ && !run_->running())
      segments_.clear();
  }
  set_error({});
  Q_EMIT plan_changed();
}

void PlanEditor::set_error(const QString& error) {
  if (error == error_)
    return;
  error_ = error;
  Q_EMIT error_changed();
}

} // namespace batchscope::ui
