#include "ui/plan/plan_editor.h"

#include <QUndoCommand>

#include <algorithm>
#include <cmath>

#include "core/base/error.h"
#include "core/schedule/edited.h"
#include "ui/texts/spec_texts.h"

namespace batchscope::ui {

/// One undoable change of a plan.
class PlanEditor::Change : public QUndoCommand {
public:
  Change(PlanEditor& editor, PlanText before, PlanText after)
      : QUndoCommand(tr("schedule %1").arg(short_schedule(after.from(editor.changeable_from()).schedule))),
        editor_(&editor), run_(editor.run_), of_run_(editor.run_ != nullptr), draft_(editor.draft_number_),
        before_(std::move(before)), after_(std::move(after)) {}

  void undo() override { apply(before_); }
  void redo() override { apply(after_); }

private:
  /// The run or draft that was changed need not be the one being edited. If it was closed, has ended or was replaced by
  /// another draft, there is nothing to change.
  void apply(const PlanText& plan_text) {
    if (editor_ && of_run_ && run_ && run_->running())
      editor_->apply_to_run(*run_, plan_text);
    else if (editor_ && !of_run_ && editor_->draft_number_ == draft_)
      editor_->apply_to_draft(plan_text);
    else
      setObsolete(true);
  }

  QPointer<PlanEditor> editor_;
  QPointer<OpenRun> run_;
  bool of_run_;
  int draft_;
  PlanText before_;
  PlanText after_;
};

PlanEditor::PlanEditor(QUndoStack& undo, std::shared_ptr<data::DataPool> data, QObject* parent)
    : QObject(parent), undo_(undo), planner_(std::move(data)) {
  connect(&planner_, &Planner::planned, this, &PlanEditor::take_plan);
  connect(&planner_, &Planner::refused, this, &PlanEditor::refuse);
}

PlanEditor::~PlanEditor() = default;

void PlanEditor::forget() {
  planner_.cancel(); // a pending plan belongs to the previous one
  drop_preview();
  judged_ = false;
  plan_.reset();
  further_.reset();
  plan_before_.reset();
  further_before_.reset();
  segments_.clear();
  planned_to_ = 0;
  memory_.reset();
  limit_ = 0;
}

void PlanEditor::drop_preview() {
  preview_.reset();
  undragged_ = {};
  dragging_ = false;
  apply_wanted_ = false;
}

void PlanEditor::edit_run(OpenRun* run) {
  refuse_if_over();
  if (run_)
    run_->disconnect(this);
  forget();
  set_error({});
  run_ = run;
  if (run_) {
    connect(run_, &OpenRun::described, this, &PlanEditor::follow_run);
    connect(run_, &OpenRun::plan_changed, this, &PlanEditor::replan);
    connect(run_, &OpenRun::grew, this, &PlanEditor::pass_stretches);
    connect(run_, &OpenRun::status_changed, this, &PlanEditor::follow_status);
    follow_run();
  }
  Q_EMIT plan_changed();
}

void PlanEditor::follow_run() {
  if (!run_ || !run_->plannable())
    return;
  memory_ = run_->start()->memory;
  replan();
}

void PlanEditor::follow_status() {
  if (run_->running() && segments_.empty())
    replan(); // it was being read, and is running
  refuse_if_over();
  if (!run_->running()) {
    discard();
    segments_.clear();
  }
  Q_EMIT plan_changed();
}

/// A change whose plan is still computed when the run ends comes too late.
void PlanEditor::refuse_if_over() {
  if (run_ && !run_->running() && std::exchange(apply_wanted_, false))
    Q_EMIT apply_refused(too_late(run_));
}

/// A run without an end has come near that of its plan.
void PlanEditor::plan_further() {
  const bool near_end = planned_to_ > 0 && run_->running() && run_->steps() > planned_to_ - planned_to_ / 4;
  if (near_end && steps_to_plan(*run_->start(), run_->steps()) > planned_to_) // which has a limit
    replan();
}

/// Stretches that have passed cannot be dragged any more.
void PlanEditor::pass_stretches() {
  plan_further();
  if (segments_.empty() || last_step(segments_.front()) >= changeable_from())
    return;
  take_segments(segments_);
  if (!dragging_ || !changed().empty()) {
    Q_EMIT plan_changed();
    return;
  }
  const bool wanted = apply_wanted_; // nothing remains of the dragged stretches
  end_drag();
  if (wanted)
    Q_EMIT apply_refused(too_late(run_));
}

void PlanEditor::edit_draft(const DraftPlan& draft) {
  if (draft.spec.program.has_value() != draft_.spec.program.has_value())
    plan_.reset(); // a plan of the other kind says nothing of this one
  draft_ = draft;
  ++draft_number_;
  return_to_draft();
}

void PlanEditor::return_to_draft() {
  if (run_)
    run_->disconnect(this);
  const auto memory = memory_;
  const std::uint64_t limit = limit_;
  const auto plan = plan_;
  const auto further = further_;
  forget();
  if (!run_) {
    memory_ = memory;
    limit_ = limit;
    plan_ = plan; // until the new one is computed
    further_ = further;
  }
  run_ = nullptr;
  replan();
}

void PlanEditor::change_draft(const DraftPlan& draft) {
  if (dragging_) // the drag used the earlier first batch
    drop_preview();
  apply_wanted_ = false;
  draft_ = draft;
  replan();
}

void PlanEditor::set_memory(const std::optional<predict::PeakCurve>& memory, std::uint64_t limit_bytes) {
  memory_ = memory;
  limit_ = limit_bytes;
  Q_EMIT memory_changed();
}

std::optional<predict::Split> PlanEditor::split(std::int64_t batch) const {
  if (!memory_ || limit_bytes() == 0)
    return std::nullopt;
  return memory_->split(batch, limit_bytes());
}

bool PlanEditor::plans_rates() const {
  if (!run_)
    return !draft_.spec.program;
  return !run_->spec() || !run_->spec()->program;
}

bool PlanEditor::has_end() const {
  const auto& start = run_ ? run_->start() : draft_.told;
  return !start || ui::has_end(*start);
}

std::int64_t PlanEditor::changeable_from() const {
  return run_ ? run_->steps() + 1 : 1;
}

std::int64_t PlanEditor::name_of(const schedule::PlanSegment& segment) const {
  const std::int64_t last = last_step(segment);
  return last_is_open_ && !segments_.empty() && last == last_step(segments_.back()) ? to_the_end : last;
}

/// The plan's schedule without the preview. For a run, as it would go on from here.
PlanText PlanEditor::present() const {
  if (!run_)
    return {QString::fromStdString(draft_.spec.schedule), std::nullopt, {}, {}};
  if (run_->pending_edit())
    return {QString::fromStdString(run_->pending_edit()->schedule), run_->pending_edit()->batch, {}, {}};
  return {QString::fromStdString(run_->schedule()), std::nullopt, {}, {}};
}

/// The same, for restoring it after others were applied. Most schedules count from where they are applied; such a
/// schedule is resumed where it was left.
PlanText PlanEditor::present_to_go_back_to() const {
  PlanText plan_text = present();
  if (!run_)
    return plan_text;
  const std::string text = plan_text.schedule.toStdString();
  if (schedule::depends_on_step_only(text))
    plan_text.sizes = further_before_;
  else
    plan_text = {QString::fromStdString(schedule::to_text(schedule::parse_edited(text))), std::nullopt, {}, {}};
  return plan_text;
}

/// Typed text may be invalid; then the stretches are still those of the earlier plan.
schedule::EditedText PlanEditor::parsed(const PlanText& plan_text) const {
  try {
    return schedule::parse_edited(plan_text.schedule.toStdString());
  } catch (const Error&) {
    return schedule::parse_edited(present().schedule.toStdString());
  }
}

/// The plan from before the drag, with other sizes over some of its stretches.
PlanText PlanEditor::with(const Segments& changes) const {
  const PlanText before = undragged_.typed.value_or(present());
  const schedule::EditedText text = parsed(before);
  std::vector<schedule::FixedStretch> stretches;
  for (const schedule::PlanSegment& change : changes)
    stretches.push_back({change.first_step - 1,
                         name_of(change) == to_the_end ? std::nullopt : std::optional(last_step(change)),
                         change.batch});
  schedule::EditedText edited = schedule::with_stretches(text, stretches, changeable_from() - 1);
  std::optional<std::int64_t> first_batch;
  if (!run_ && !stretches.empty() && stretches.front().from == 0) {
    first_batch = stretches.front().batch;
    edited.batch = edited.batch.value_or(before.batch.value_or(draft_.batch));
  }
  const PlanText plan_text{QString::fromStdString(schedule::to_text(edited)), first_batch, {}, {}};
  const PlanText pieces{{}, std::nullopt, schedule::with_changes(undragged_.segments, changes), {}};
  const bool exact = std::all_of(pieces.stretches.begin(), pieces.stretches.end(),
                                 [](const schedule::PlanSegment& piece) { return piece.exact; });
  const bool shorter = pieces.from(changeable_from()).schedule.size() <= plan_text.schedule.size();
  return exact && shorter && has_end() && !has_rates(text) ? pieces : plan_text;
}

QString PlanEditor::schedule() const {
  const QString text = (preview_ ? preview_->from(changeable_from()) : present()).schedule;
  return QString::fromStdString(schedule::text_in_force(text.toStdString()));
}

void PlanEditor::type(const QString& schedule) {
  drop_preview();
  preview_ = PlanText{schedule.trimmed(), std::nullopt, {}, {}};
  replan();
}

bool PlanEditor::drag(std::int64_t name, std::int64_t batch) {
  take_segments(segments_);
  const auto dragged = std::find_if(segments_.begin(), segments_.end(),
                                    [&](const schedule::PlanSegment& segment) { return name_of(segment) == name; });
  if (dragged == segments_.end())
    return false;
  batch = std::max<std::int64_t>(batch, 1);
  if (batch == dragged->batch)
    return true; // it has that size already, planned or requested
  if (!dragging_)
    undragged_ = {segments_, error_.isEmpty() ? preview_ : std::nullopt};
  dragged->batch = batch;
  dragged->exact = true;
  const Segments changes = changed();
  if (changes.empty()) {
    end_drag();
    return true;
  }
  dragging_ = true;
  apply_wanted_ = false;
  preview_ = with(changes);
  replan();
  return true;
}

void PlanEditor::drop(std::int64_t name, std::int64_t batch) {
  if (drag(name, batch))
    return apply();
  discard();
  Q_EMIT apply_refused(too_late(run_));
}

QString PlanEditor::too_late(const OpenRun* run) {
  return run != nullptr && !run->running() ? tr("the run has ended")
                                           : tr("the run has already passed the dragged segment");
}

/// The stretches that differ from before the drag. A stretch is identified by its end: its beginning moves with the
/// run.
Segments PlanEditor::changed() const {
  Segments changes;
  for (const schedule::PlanSegment& before : undragged_.segments)
    for (const schedule::PlanSegment& now : segments_)
      if (last_step(now) == last_step(before) && now.batch != before.batch)
        changes.push_back(now);
  return changes;
}

/// Returns to the state before the drag: the plan, or typed text.
void PlanEditor::end_drag() {
  const std::optional<PlanText> typed = undragged_.typed;
  if (!typed)
    return discard();
  drop_preview();
  preview_ = typed;
  replan();
}

void PlanEditor::discard() {
  if (!preview_)
    return;
  drop_preview();
  if (plan_before_) { // at once: the next drag begins there
    plan_ = plan_before_;
    further_ = further_before_;
    take_segments(outline());
    set_error({});
    Q_EMIT plan_changed();
  }
  replan();
}

void PlanEditor::apply() {
  if (!preview_)
    return;
  apply_wanted_ = !judged_;
  if (!judged_)
    return;
  if (!error_.isEmpty()) {
    Q_EMIT apply_refused(error_);
    return;
  }
  const PlanText after = *preview_;
  PlanText before = present_to_go_back_to();
  if (!run_ && after.from(1).batch.value_or(draft_.batch) != draft_.batch)
    before.batch = draft_.batch;
  drop_preview();
  plan_before_ = plan_;
  further_before_ = further_;
  undo_.push(new Change(*this, before, after));
  Q_EMIT applied();
}

void PlanEditor::apply_to_run(OpenRun& run, const PlanText& plan_text) {
  if (run_ == &run)
    drop_preview();
  const PlanText now = plan_text.from(run.steps() + 1);
  run.edit({now.schedule.toStdString(), now.batch}); // emits plan_changed, which replans
}

void PlanEditor::apply_to_draft(const PlanText& plan_text) {
  draft_ = draft_with(plan_text);
  if (!run_)
    drop_preview();
  Q_EMIT draft_changed(QString::fromStdString(draft_.spec.schedule));
  if (!run_)
    replan();
}

DraftPlan PlanEditor::draft_with(const PlanText& plan_text) const {
  const PlanText whole = plan_text.from(1);
  DraftPlan draft = draft_;
  draft.spec.schedule = whole.schedule.toStdString();
  draft.batch = whole.batch.value_or(draft.batch);
  return draft;
}

void PlanEditor::replan() {
  judged_ = false;
  if (!run_) {
    planner_.request(preview_ ? draft_with(*preview_) : draft_);
    return;
  }
  if (!run_->plannable())
    return;
  schedule::PlanRequest request;
  try {
    request = run_->plan_request();
  } catch (const std::exception& error) {
    return refuse(QString::fromUtf8(error.what()));
  }
  const auto add_edit = [&](const std::string& schedule, std::optional<std::int64_t> batch) {
    request.edits.push_back({changeable_from() - 1, schedule, batch});
  };
  if (const auto pending = run_->pending_edit())
    add_edit(pending->schedule, pending->batch);
  if (const auto& shares = run_->pending_shares())
    request.edits.push_back({changeable_from() - 1, {}, std::nullopt, *shares});
  if (preview_) {
    const PlanText plan_text = preview_->from(changeable_from());
    add_edit(plan_text.schedule.toStdString(), plan_text.batch);
  }
  request.outline_from = changeable_from();
  request.max_steps = steps_to_plan(*run_->start(), run_->steps());
  planned_to_ = has_end() ? 0 : request.max_steps;
  planner_.request(request);
}

void PlanEditor::take_plan(const std::shared_ptr<const schedule::Plan>& plan,
                           const std::shared_ptr<const schedule::Plan>& further) {
  judged_ = true;
  plan_ = plan;
  further_ = further;
  if (!preview_) {
    plan_before_ = plan;
    further_before_ = further;
    if (run_)
      run_->set_planned(*plan);
  }
  take_segments(dragging_ ? segments_ : outline());
  set_error({});
  Q_EMIT plan_changed();
  if (apply_wanted_)
    apply();
}

/// The plan's stretches. Where the plan is drawn for a while ahead only, the last one still ends where its size does.
Segments PlanEditor::outline() {
  Segments segments = plan_->outline;
  last_is_open_ = true;
  const series::Series* sizes = further_->history->find("batch");
  if (further_ == plan_ || segments.empty() || sizes == nullptr || last_step(segments.back()) != plan_->steps)
    return segments;
  const auto drawn = static_cast<std::size_t>(plan_->steps);
  std::size_t end = drawn;
  while (end < sizes->values.size() && sizes->values[end] == sizes->values[drawn - 1])
    ++end;
  segments.back().steps += static_cast<std::int64_t>(end - drawn);
  last_is_open_ = end == sizes->values.size();
  return segments;
}

/// The part that can still be changed.
void PlanEditor::take_segments(const Segments& segments) {
  segments_ = run_ && !run_->running() ? Segments() : clipped(segments, changeable_from());
}

void PlanEditor::refuse(const QString& error) {
  judged_ = true;
  set_error(error);
  if (std::exchange(apply_wanted_, false))
    Q_EMIT apply_refused(error);
}

void PlanEditor::set_error(const QString& error) {
  if (error == error_)
    return;
  error_ = error;
  Q_EMIT error_changed();
}

} // namespace batchscope::ui

#include "moc_plan_editor.cpp"
