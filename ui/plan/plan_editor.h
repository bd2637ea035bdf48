#pragma once

#include <QObject>
#include <QPointer>
#include <QString>
#include <QUndoStack>

#include <limits>
#include <memory>
#include <optional>

#include "core/predict/peak_curve.h"
#include "core/schedule/edited.h"
#include "ui/opened_runs/open_run.h"
#include "ui/plan/plan_text.h"
#include "ui/plan/planner.h"

namespace batchscope::ui {

/// Edits a plan: the rest of a running run, or a draft before a run. Dragging and typing give previews; apply() makes
/// the change, which can be undone: for a draft by restoring the text, for a run by another edit that resumes the
/// earlier schedule where it would be by then.
///
/// The stretches that the user drags may be coarse. A drag gives the dragged stretches a batch size of their own and
/// leaves every other step unchanged; the result is an edited schedule, or an equivalent piecewise one if that is
/// shorter. UI thread; plans are computed on another thread.
class PlanEditor : public QObject {
  Q_OBJECT

public:
  /// Identifies the last stretch, since dragging may move the end of a plan.
  static constexpr std::int64_t to_the_end = std::numeric_limits<std::int64_t>::max();

  /// `data`: shared with others, for drafts.
  explicit PlanEditor(QUndoStack& undo, std::shared_ptr<data::DataPool> data = nullptr, QObject* parent = nullptr);
  ~PlanEditor() override;

  void edit_run(OpenRun* run); ///< null: nothing to edit
  /// Edits a new draft; the undo history of the earlier draft does not affect it.
  void edit_draft(const DraftPlan& draft);
  /// Changes first batch or length of the same draft; keeps the schedule that the user typed.
  void change_draft(const DraftPlan& draft);
  /// Edits the last draft again.
  void return_to_draft();
  OpenRun* run() const { return run_; }
  const DraftPlan& draft() const { return draft_; }
  bool is_draft() const { return run_ == nullptr; }

  /// Sets memory against batch and the limit in bytes, to show what fits; without them nothing is shown about it.
  void set_memory(const std::optional<predict::PeakCurve>& memory, std::uint64_t limit_bytes);
  const std::optional<predict::PeakCurve>& memory() const { return memory_; }
  std::uint64_t limit_bytes() const { return run_ ? run_->budget() : limit_; }
  /// How a batch would be split, if memory is known.
  std::optional<predict::Split> split(std::int64_t batch) const;

  /// The current plan: that of the preview while there is one. Null until the first plan is computed.
  const std::shared_ptr<const schedule::Plan>& plan() const { return plan_; }
  /// Whether the training says when it ends. Else the plan is drawn for a while ahead, and drawn further as it goes on.
  bool has_end() const;
  /// First step that can still be changed (1 for a draft).
  std::int64_t changeable_from() const;
  /// Whether the plan's learning rates are those of the training; a program has rates of its own, which the plan only
  /// scales.
  bool plans_rates() const;
  /// The part of the plan that can be changed, as stretches of one batch size that can be dragged.
  const std::vector<schedule::PlanSegment>& segments() const { return segments_; }
  /// Identifies a stretch that the run has not passed: its last step, or `to_the_end`.
  std::int64_t name_of(const schedule::PlanSegment& segment) const;
  QString schedule() const; ///< the current text (that of the preview while there is one)
  QString error() const { return error_; }
  bool has_preview() const { return preview_.has_value(); }

  // Previews; each replaces the one before, except that drags accumulate.
  void type(const QString& schedule);
  /// Returns false if there is no such stretch (any more): the run may have passed it. If all stretches are back at
  /// their original sizes, there is no preview.
  bool drag(std::int64_t name, std::int64_t batch);
  void drop(std::int64_t name, std::int64_t batch); ///< drags it and applies
  /// Why drag() returns false for this run: it has ended, or has passed the stretch. A clause.
  static QString too_late(const OpenRun* run);
  void discard();
  /// Makes the preview the plan once it is known to be valid: for a draft at once, for a run as an edit at the next
  /// step boundary. Emits applied() or apply_refused(), or neither if another preview came first.
  void apply();

Q_SIGNALS:
  void plan_changed();
  void memory_changed();
  void error_changed();
  void applied();
  void apply_refused(const QString& error);
  /// The draft's schedule, and possibly its first batch, were changed by apply(), undo or redo. This can happen while a
  /// run is edited.
  void draft_changed(const QString& schedule);

private:
  class Change;
  PlanText present() const;
  PlanText present_to_go_back_to() const;
  schedule::EditedText parsed(const PlanText& plan_text) const;
  PlanText with(const Segments& changes) const;
  void apply_to_run(OpenRun& run, const PlanText& plan_text);
  void apply_to_draft(const PlanText& plan_text);
  DraftPlan draft_with(const PlanText& plan_text) const;
  void follow_run();
  void follow_status();
  void pass_stretches();
  void replan();
  void plan_further();
  void take_plan(const std::shared_ptr<const schedule::Plan>& plan,
                 const std::shared_ptr<const schedule::Plan>& further);
  Segments outline();
  void take_segments(const Segments& segments);
  Segments changed() const;
  void end_drag();
  void refuse_if_over();
  void drop_preview();
  void refuse(const QString& error);
  void set_error(const QString& error);
  void forget();

  QUndoStack& undo_;
  Planner planner_;
  QPointer<OpenRun> run_;
  DraftPlan draft_;
  int draft_number_ = 0; ///< number of drafts so far; identifies a change's draft
  std::optional<PlanText> preview_;
  bool dragging_ = false; ///< segments_ are the dragged ones, not the plan's
  /// The state before the accumulated drags.
  struct {
    Segments segments;
    std::optional<PlanText> typed;
  } undragged_;
  bool judged_ = false;       ///< plan_ or error_ is the result of the last request
  bool apply_wanted_ = false; ///< apply once judged_ is true
  std::shared_ptr<const schedule::Plan> plan_;
  std::shared_ptr<const schedule::Plan> further_; ///< plan_ as far as it is known, of a run without an end; else plan_
  std::shared_ptr<const schedule::Plan> plan_before_, further_before_; ///< the last ones without a preview
  std::int64_t planned_to_ = 0; ///< last step that was planned, of a run without an end; 0: it has one
  Segments segments_;
  bool last_is_open_ = true; ///< the last of segments_ ends with the run, as far as is known
  std::optional<predict::PeakCurve> memory_;
  std::uint64_t limit_ = 0;
  QString error_;
};

} // namespace batchscope::ui
