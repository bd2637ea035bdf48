#pragma once

#include <QElapsedTimer>
#include <QObject>
#include <QString>
#include <QTimer>

#include <atomic>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
#include <optional>
#include <set>
#include <vector>

#include "core/compare/answer.h"
#include "core/data/data_pool.h"
#include "core/job/job.h"
#include "core/predict/peak_curve.h"
#include "core/program/trial/card_savings.h"
#include "core/program/trial/tryout.h"
#include "core/run/job_control.h"
#include "core/run/run_control.h"
#include "core/run/run_spec.h"
#include "core/run/session.h"
#include "core/search/finder.h"
#include "core/store/run_store.h"
#include "core/sweep/sweep_spec.h"
#include "core/telemetry/queue.h"
#include "ui/threads/ui_queue.h"

namespace batchscope::ui {

class JobQueue;

/// A job of the engine: a training run, a search, a sweep, the demo, a memory prediction, the test of a program, or its
/// sizes on a card. Lives in the UI thread; reports from the worker arrive there as signals. Records come through a
/// queue instead, which the UI drains.
class Job : public QObject {
  Q_OBJECT

public:
  enum class Kind { train, find, sweep, demo, predict, try_out, fit };
  enum class State { waiting, working, done, failed, cancelled };

  /// A run of this job and its reports, for display.
  struct LiveRun : job::StartedRun {
    std::shared_ptr<telemetry::RecordQueue> queue; ///< filled while anyone holds it
  };

  /// The sizes of a program on a card, and what changes of it would save, as far as that is known.
  struct Fitted {
    search::SearchResult found;
    std::vector<program::CardSaving> savings;
  };

  Kind kind() const { return kind_; }
  State state() const { return state_; }
  /// Whether its results are stored; what a prediction, a test or a card shows is not.
  bool stores() const { return kind_ != Kind::predict && kind_ != Kind::try_out && kind_ != Kind::fit; }
  bool over() const { return state_ != State::waiting && state_ != State::working; }
  QString title() const { return title_; }
  /// Text of the button that cancels it: "Stop run", "Stop sweep".
  QString stop_text() const;
  /// Error of a failed job.
  struct Failure {
    QString message;   ///< one line
    std::string field; ///< key of the run's field that it is about, see Error::field()
  };
  const QString& error() const { return error_.message; }
  const std::string& error_field() const { return error_.field; }
  /// 0..1; nothing if unknown. activity() describes the current work.
  std::optional<double> progress() const { return progress_; }
  QString activity() const { return activity_; }
  double seconds() const; ///< spent working so far
  /// Estimated from the progress so far; of a sweep, whose runs take different times, what was set last, counted down.
  std::optional<double> seconds_left() const;
  /// Sets the remaining time of a sweep, estimated from runs that were measured.
  void set_seconds_left(std::optional<double> seconds);

  /// Ends the job at the next step boundary (or between two trials); its results so far stay stored. A queued job never
  /// starts: it is cancelled when this returns, or a moment later if the worker was about to start it.
  void cancel();

  const std::vector<search::Probe>& probes() const { return probes_; }
  const std::vector<search::Timing>& timings() const { return timings_; }
  /// Search strategy, if the job searches.
  const QString& strategy() const { return strategy_; }
  /// Result of a search that has ended.
  const std::shared_ptr<const search::SearchResult>& search_result() const { return search_result_; }
  /// The number of the search in the database; nothing until it is stored.
  const std::optional<std::int64_t>& stored_search() const { return stored_search_; }
  /// The number of its sweep in the database; nothing until it is stored, and for jobs without a sweep.
  const std::optional<std::int64_t>& sweep() const { return sweep_; }
  /// Whether it has begun this run.
  bool has_run(std::int64_t id) const { return runs_.contains(id); }
  /// The answer of the demo's sweep, once it has ended.
  const std::optional<compare::Answer>& answer() const { return answer_; }
  const std::optional<predict::PeakCurve>& predicted() const { return predicted_; }
  std::uint64_t budget_bytes() const { return budget_; }
  /// Result of the test of a program, once it has ended.
  const std::shared_ptr<const program::Tryout>& tried() const { return tried_; }
  const std::shared_ptr<const Fitted>& fitted() const { return fitted_; }
  const run::RunSpec& spec() const { return spec_; }

Q_SIGNALS:
  void state_changed();
  void progressed();
  /// A search ran a size; predicted() is up to date.
  void probed();
  void timed();
  /// searched(): search_result() is set. search_stored(): stored_search() is set.
  void searched();
  void search_stored();
  /// sweep() is set, and work at it begins.
  void sweep_began();
  /// A run is about to make its first step.
  void run_started(const batchscope::ui::Job::LiveRun& run);
  /// The run has learnt more of itself: a program that has connected.
  void start_changed(std::int64_t id, const batchscope::run::RunStart& start);
  void run_ended(std::int64_t id, const QString& status, const QString& reason);

private:
  friend class JobQueue;
  friend class JobWatch;
  Job(Kind kind, QString title, run::RunSpec spec, QString strategy, JobQueue& job_queue);

  JobQueue& job_queue_;
  Kind kind_;
  State state_ = State::waiting;
  QString title_;
  Failure error_;
  QString activity_;
  std::optional<double> progress_;
  QElapsedTimer worked_;
  std::optional<double> seconds_left_; ///< of a sweep, when it was set
  QElapsedTimer since_set_;
  double took_ = 0; ///< set when it has ended
  run::RunSpec spec_;
  QString strategy_;
  std::vector<search::Probe> probes_;
  std::vector<search::Timing> timings_;
  std::shared_ptr<const search::SearchResult> search_result_;
  std::optional<std::int64_t> stored_search_;
  std::optional<std::int64_t> sweep_;
  std::set<std::int64_t> runs_;
  std::optional<compare::Answer> answer_;
  std::optional<predict::PeakCurve> predicted_;
  std::uint64_t budget_ = 0;
  std::shared_ptr<const program::Tryout> tried_;
  std::shared_ptr<const Fitted> fitted_;
  std::shared_ptr<run::JobControl> control_ = std::make_shared<run::JobControl>();
};

struct FindRequest {
  run::RunSpec spec;
  std::string strategy = "predictive";
  std::optional<std::int64_t> start;
  double factor = 0.9;
  double margin = 0.2;
};

/// Runs jobs one after the other on a worker thread, stores their results and emits progress. There is one worker,
/// because LibTorch has one allocator per device. UI thread.
class JobQueue : public QObject {
  Q_OBJECT

public:
  explicit JobQueue(std::filesystem::path database, QObject* parent = nullptr);
  ~JobQueue() override; ///< cancels all jobs and waits for the worker

  // Each returns the job, which the engine owns. An invalid spec makes the job fail.
  Job* train(const run::RunSpec& spec);
  /// Goes on with a stored run from its last checkpoint, or, if it is of a program, adopts it; `spec` are its settings.
  /// Fails if there is nothing to go on with, or it has not ended.
  Job* resume_run(std::int64_t run, const run::RunSpec& spec);
  Job* find(const FindRequest& request);
  Job* sweep(const sweep::SweepSpec& spec);
  /// Makes the missing runs of a stored sweep, whose common settings are `base`. `shared`: other programs work at it at
  /// the moment; see sweep::WorkOptions.
  Job* resume_sweep(std::int64_t sweep, const run::RunSpec& base, bool shared);
  /// The demo: search, sweep over batch sizes, and a run that asks for more than fits, on the bundled images.
  Job* demo();
  /// Runs two small probes for Job::predicted(); stores nothing.
  Job* predict(const run::RunSpec& spec);
  /// Runs the spec's program for a few steps for Job::tried(); stores nothing.
  Job* try_out(const run::RunSpec& spec);
  /// Searches for the sizes of the spec's program on a card that need not be here, for Job::fitted(); stores nothing.
  Job* fit(const run::RunSpec& spec, const QString& card);

  const QList<Job*>& jobs() const { return jobs_; } ///< oldest first
  Job* working() const;                             ///< the current one, or null
  /// Current work of the job, or the job that it waits for, as a text.
  QString activity_of(const Job& job) const;
  bool idle() const;
  /// Cancels all jobs; emits idle_now() once the worker is idle.
  void cancel_all();

  /// Loads LibTorch on the worker thread, so that the first job starts at once. Emits library_loaded() on success; on
  /// failure the first job reports the error.
  void load_library();
  std::optional<int> threads() const { return threads_; } ///< used for computing; known once LibTorch is loaded

  /// Numbers of records stored and waiting, over everything that this process writes.
  store::RunStore::Backlog backlog() const;
  const std::filesystem::path& database() const { return database_; }
  /// The data used by jobs; shared with planners.
  const std::shared_ptr<data::DataPool>& data() const { return data_; }

Q_SIGNALS:
  void job_added(batchscope::ui::Job* job);
  void job_changed(batchscope::ui::Job* job);
  void idle_now();
  void library_loaded();

private:
  friend class Job;
  class Worker;
  /// The work of a job on the worker thread; throws Error if it fails.
  using Work = std::function<void(class JobWatch& watch, store::RunStore* store)>;

  /// Properties of a job, besides its work.
  struct Order {
    Job::Kind kind;
    QString title;
    run::RunSpec spec;
    bool stores = true;    ///< whether the work needs the database
    QString strategy = {}; ///< of its search; empty: the default
  };
  Job* add(const Order& order, Work work);
  /// Ends a queued job at once.
  void withdraw(Job* job);
  void begin(Job* job);
  void end(Job* job, Job::State state, const Job::Failure& error);
  void show_progress();
  void loaded_with(int threads);

  std::filesystem::path database_;
  QList<Job*> jobs_;
  std::shared_ptr<data::DataPool> data_ = std::make_shared<data::DataPool>();
  QTimer progress_; ///< runs while a job works
  std::optional<int> threads_;
  UiQueue reports_; ///< what the worker reports
  std::unique_ptr<Worker> worker_;
};

} // namespace batchscope::ui
