#pragma once

#include <QObject>
#include <QTimer>

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "core/schedule/plan.h"
#include "core/series/history.h"
#include "core/telemetry/outcome.h"
#include "ui/database/run_database.h"
#include "ui/jobs/job_queue.h"

namespace batchscope::ui {

/// Whether a series has any value but 0 and NaN, or has none yet.
bool says_something(const series::History& history, const std::string& series);

/// A run as the window shows it, from any source: trained by this window's engine (records come directly from its
/// queue), by another process (read from the database, at most a second late), or an old one. UI thread.
class OpenRun : public QObject {
  Q_OBJECT

public:
  /// A run that this window's engine has just started.
  OpenRun(const Job::LiveRun& run, Job& job, QObject* parent);
  /// A stored run, of this or another process, running or not.
  OpenRun(std::int64_t id, RunDatabase& run_database, QObject* parent);
  ~OpenRun() override;

  std::int64_t id() const { return id_; }
  QString name() const;
  bool set_name(const QString& name); ///< sets the stored name; false if it is unchanged
  /// Nothing for a run of another program, and while a stored run is loading.
  const std::optional<run::RunSpec>& spec() const { return spec_; }
  const std::optional<run::RunStart>& start() const { return start_; }
  /// Why the batch size, the schedule and the budget of the run cannot be changed while it runs: its program does not
  /// take such changes. A sentence without its period; empty if they can, and for other runs.
  QString not_steerable() const;
  /// Whether the run tells when a step ends, so that it can make one step and pause again; false for a program of level
  /// 0.
  bool reports_steps() const;
  /// Whether the run reports this series: a program may not, and has 0 or NaN in its records then.
  bool tells(const std::string& series) const;
  /// Whether the steps of the whole run can be planned: not of a program whose batch size is its own.
  bool plannable() const;
  const std::shared_ptr<series::History>& history() const { return history_; }
  const std::vector<telemetry::Event>& events() const { return history_->events(); }

  /// `running`, `paused`, `finished`, `stopped`, `failed`, `interrupted`; a stored run can also be `loading` or, if its
  /// outcome is unknown, `unreadable`.
  QString status() const { return status_; }
  QString reason() const { return reason_; } ///< of `failed` and `unreadable`
  /// The last that its program wrote, as stored with a run that failed; empty if nothing is.
  QString stored_output() const;
  bool running() const { return status_ == "running" || status_ == "paused"; }
  bool paused() const { return status_ == "paused"; }
  /// Estimated from the plan's length and the speed so far; nothing if unknown.
  std::optional<std::int64_t> expected_steps() const;
  std::int64_t steps() const;
  std::optional<double> progress() const; ///< 0..1
  // As computed by telemetry::RunProgress and shown in every list of runs.
  double seconds() const;
  double examples_per_second() const;
  std::optional<double> disturbed() const;    ///< fraction of the time that other work took; nothing if it is not known
  std::optional<double> seconds_left() const; ///< estimated from the speed of the last seconds

  // Commands to this run only; each takes effect at the next step boundary. A command that comes too late has no
  // effect; for an edit, problem() reports it.
  void pause();
  void resume();
  void step_once();
  void stop();
  void edit(const run::ScheduleEdit& edit);
  /// Requests another memory budget in bytes; it applies from the run's next step on.
  void set_budget(std::uint64_t bytes);
  /// Requests other shares of the data streams, as schedule::ShareSchedule reads them. If they come too late, problem()
  /// reports it.
  void set_shares(const std::string& shares);
  /// The memory budget in bytes: the one requested last, until the run has answered, or that of its last step; 0 if it
  /// is not known.
  std::uint64_t budget() const;
  /// Whether its readings of memory have more in them than its budget limits: those of a program on the host, which are
  /// of its process, have the code of libraries and what these keep.
  bool reads_whole_process() const;
  /// The edit that waits for its step boundary, if any; the last one if there are several.
  std::optional<run::ScheduleEdit> pending_edit() const;
  /// The shares of the data streams that wait for their step boundary, if any.
  const std::optional<std::string>& pending_shares() const { return asked_shares_; }
  bool has_pending() const { return !pending_.empty() || asked_shares_; } ///< an edit, or shares

  /// The current schedule: the first one, or that of the last applied edit.
  std::string schedule() const;
  /// The shares of the data streams: those requested last, until the run has answered, or those in force; empty for
  /// shares in proportion to the streams' examples.
  std::string shares() const;
  /// The whole plan of the run, including all applied edits. Empty unless it is plannable().
  schedule::PlanRequest plan_request() const;
  /// Sets the length of the plan, for expected_steps() and seconds_left().
  void set_planned(const schedule::Plan& plan);

Q_SIGNALS:
  void described();           ///< spec() and start() are known, or start() has changed
  void grew();                ///< new records; several times a second
  void event_came(int index); ///< index into events()
  void status_changed();
  void plan_changed(); ///< an edit was requested, applied or rejected
  void problem(const QString& text);

private:
  void take_start(const run::RunStart& start);
  void take(const telemetry::StepRecord& record);
  void take(telemetry::Event event);
  void apply(const telemetry::Event& event);
  void apply(const telemetry::ScheduleEdit& edit);
  void apply(const telemetry::SharesEdit& edit);
  void apply(const telemetry::BudgetChange& change);
  void apply(const telemetry::StatusChange& change);
  bool settle(const std::string& schedule);
  void send(const char* verb, const std::string& detail = "{}", std::function<void()> refused = {});
  double last_examples() const;
  schedule::RunLength countable_length() const;
  double recent_examples_per_second() const;
  void refuse_late_edits();
  void set_status(const QString& status, const QString& reason = {});
  void drain();
  void end(const QString& status, const QString& reason);
  void take_batch(RunBatch&& batch);

  std::int64_t id_ = 0;
  std::string name_; ///< as stored; may be empty
  std::optional<run::RunSpec> spec_;
  std::optional<run::RunStart> start_;
  std::shared_ptr<series::History> history_;
  telemetry::RunProgress so_far_; ///< as stored, of a run of the database that has ended
  QString status_ = "loading";
  QString reason_;
  QString seen_status_ = "running";           ///< of a run in progress: running or paused
  std::vector<run::ScheduleEdit> pending_;    ///< oldest first
  std::optional<std::uint64_t> budget_;       ///< of the last answer to a request
  std::optional<std::uint64_t> asked_budget_; ///< not answered yet
  std::optional<std::string> asked_shares_;   ///< not answered yet
  std::vector<schedule::PlanEdit> applied_;
  std::vector<schedule::PlanEdit> applied_shares_; ///< changes of the shares of data streams
  std::optional<std::int64_t> planned_steps_;
  std::optional<std::int64_t> planned_examples_;
  // For a run of this window's engine.
  std::shared_ptr<telemetry::RecordQueue> queue_;
  std::shared_ptr<run::RunControl> control_;
  QTimer timer_;
  // For a run read from the database.
  RunDatabase* run_database_ = nullptr;
  RunDatabase::Token following_;
};

} // namespace batchscope::ui
