#pragma once

#include <QObject>
#include <QPointer>
#include <QString>
#include <QUndoStack>

#include <memory>
#include <optional>

#include "core/predict/peak_curve.h"
#include "ui/run/open_run.h"
#include "ui/run/planner.h"

namespace batchscope::ui {

/// The plan being edited: of a run that goes on (its future), or of a draft before anything runs. Dragging and typing
/// give previews; applying makes the change, which can be undone: for a draft by taking the text back, for a run by a
/// further edit with the plan that was there. UI thread.
class PlanEditor : public QObject {
  Q_OBJECT

public:
  explicit PlanEditor(QUndoStack& undo, QObject* parent = nullptr);
  ~PlanEditor() override;

  void edit_run(OpenRun* run); ///< null: nothing to edit
  void edit_draft(const DraftPlan& draft);
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
  /// The plan's changeable part in stretches of one batch size: what can be dragged. Its numbering holds until the next
  /// plan_changed().
  const std::vector<schedule::PlanSegment>& segments() const { return segments_; }
  QString schedule() const; ///< text as it stands (of the preview while there is one)
  QString error() const { return error_; }
  bool has_preview() const { return preview_.has_value(); }

  // Previews; each replaces the one before, but that drags add up.
  void type(const QString& schedule);
  void drag(std::size_t segment, std::int64_t batch);
  void discard();
  /// Makes the preview the plan: of a draft at once, of a run as an edit that waits for its step boundary. Nothing
  /// where there is no preview or it is wrong.
  void apply();

Q_SIGNALS:
  void plan_changed();
  void error_changed();
  /// The text of a draft's schedule changed by apply(), undo or redo; its first batch may have, too.
  void draft_changed(const QString& schedule);

private:
  class Change;

  /// A plan as text: for a draft with its first batch, for a run with that of the very next step.
  struct Wish {
    QString schedule;
    std::optional<std::int64_t> batch;
  };

  Wish present() const;
  void put_in(const Wish& wish);
  void follow_run();
  void replan();
  void take_plan(const std::shared_ptr<const schedule::Plan>& plan);
  void set_error(const QString& error);
  void forget();

  QUndoStack& undo_;
  Planner planner_;
  QPointer<OpenRun> run_;
  DraftPlan draft_;
  std::optional<Wish> preview_;
  bool dragging_ = false; ///< segments_ are what was dragged, not what the plan says
  std::shared_ptr<const schedule::Plan> plan_;
  std::shared_ptr<const schedule::Plan> planned_before_; ///< the last one without a preview
  std::vector<schedule::PlanSegment> segments_;
  std::optional<predict::PeakCurve> memory_;
  std::uint64_t limit_ = 0;
  QString error_;
};

} // namespace batchscope::ui
