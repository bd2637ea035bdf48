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
#include "ui/plan/planner.h"

namespace batchscope::ui {

/// The plan being edited: of a run that goes on (its future), or of a draft before anything runs. Dragging and typing
/// give previews; applying makes the change, which can be undone: for a draft by taking the text back, for a run by a
/// further edit that takes up the schedule that was there, where it would be by then.
///
/// The stretches that are dragged may be coarse. A drag gives the dragged stretches a size of their own and leaves
/// every other step as it was: as an edited schedule, or as a piecewise one where that is shorter and says the same. UI
/// thread; no plan is made on it.
class PlanEditor : public QObject {
  Q_OBJECT

public:
  /// Stands for the last stretch, wherever that ends: dragging may move the end of a plan.
  static constexpr std::int64_t to_the_end = std::numeric_limits<std::int64_t>::max();

  /// `data`: that others use, for drafts.
  explicit PlanEditor(QUndoStack& undo, std::shared_ptr<data::DataPool> data = nullptr, QObject* parent = nullptr);
  ~PlanEditor() override;

  void edit_run(OpenRun* run); ///< null: nothing to edit
  /// Another draft than before: what was undone or can be undone of that one is no business of this.
  void edit_draft(const DraftPlan& draft);
  /// Another first batch or length of the same draft; what is typed of its schedule stays.
  void change_draft(const DraftPlan& draft);
  /// The draft that was edited before a run was.
  void return_to_draft();
  OpenRun* run() const { return run_; }
  const DraftPlan& draft() const { return draft_; }
  bool is_draft() const { return run_ == nullptr; }

  /// Memory against batch, and the limit in bytes, to tell what fits; without, nothing is said of it.
  void set_memory(const std::optional<predict::PeakCurve>& memory, std::uint64_t limit_bytes);
  const std::optional<predict::PeakCurve>& memory() const { return memory_; }
  std::uint64_t limit_bytes() const { return limit_; }
  /// How a batch would be run, where memory is known.
  std::optional<predict::Split> split(std::int64_t batch) const;

  /// The plan as it stands: of the preview while there is one. Null until the first one is made.
  const std::shared_ptr<const schedule::Plan>& plan() const { return plan_; }
  /// First step that can still be changed (1 for a draft).
  std::int64_t changeable_from() const;
  /// The plan's changeable part in stretches of one batch size: what can be dragged.
  const std::vector<schedule::PlanSegment>& segments() const { return segments_; }
  /// What names a stretch as long as it lies ahead: its last step, or `to_the_end`.
  std::int64_t name_of(const schedule::PlanSegment& segment) const;
  QString schedule() const; ///< text as it stands (of the preview while there is one)
  QString error() const { return error_; }
  bool has_preview() const { return preview_.has_value(); }

  // Previews; each replaces the one before, but that drags add up.
  void type(const QString& schedule);
  /// False where there is no such stretch (any more): the run may have passed it. Back where all was, there is no
  /// preview.
  bool drag(std::int64_t name, std::int64_t batch);
  void drop(std::int64_t name, std::int64_t batch); ///< drags it there and applies
  void discard();
  /// Makes the preview the plan, once that is known to be good: of a draft at once, of a run as an edit that waits for
  /// its step boundary. Says either applied() or apply_refused(), or neither where another preview came first.
  void apply();

Q_SIGNALS:
  void plan_changed();
  void error_changed();
  void applied();
  void apply_refused(const QString& error);
  /// The text of the draft's schedule changed by apply(), undo or redo; its first batch may have, too. A draft can be
  /// changed back while a run is edited.
  void draft_changed(const QString& schedule);

private:
  class Change;
  using Segments = std::vector<schedule::PlanSegment>;

  /// A plan as text: for a draft with its first batch, for a run with that of the very next step where it is not for
  /// the schedule to say.
  struct PlanText {
    QString schedule;
    std::optional<std::int64_t> batch;
    /// Where there are some, text and batch are made of those that are left when it is put in: a run goes on meanwhile.
    Segments stretches;
    /// Where there is one, the batch is the one that it has for that step.
    std::shared_ptr<const schedule::Plan> sizes;

    PlanText from(std::int64_t step) const;
  };

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
  void take_plan(const std::shared_ptr<const schedule::Plan>& plan);
  void take_segments(const Segments& segments);
  Segments changed() const;
  void end_drag();
  static QString too_late();
  void drop_preview();
  void refuse(const QString& error);
  void set_error(const QString& error);
  void forget();

  QUndoStack& undo_;
  Planner planner_;
  QPointer<OpenRun> run_;
  DraftPlan draft_;
  int draft_number_ = 0; ///< drafts so far: tells whose a change is
  std::optional<PlanText> preview_;
  bool dragging_ = false; ///< segments_ are what was dragged, not what the plan says
  /// What the drags that add up began with.
  struct {
    Segments segments;
    std::optional<PlanText> typed;
  } undragged_;
  bool judged_ = false;       ///< plan_ or error_ answer what was asked for last
  bool apply_wanted_ = false; ///< once that is so
  std::shared_ptr<const schedule::Plan> plan_;
  std::shared_ptr<const schedule::Plan> planned_before_; ///< the last one without a preview
  Segments segments_;
  std::optional<predict::PeakCurve> memory_;
  std::uint64_t limit_ = 0;
  QString error_;
};

} // namespace batchscope::ui
