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
#include <vector>

#include "core/data/data_pool.h"
#include "core/predict/peak_curve.h"
#include "core/run/job_control.h"
#include "core/run/run_control.h"
#include "core/run/run_spec.h"
#include "core/run/session.h"
#include "core/search/finder.h"
#include "core/store/run_store.h"
#include "core/sweep/recommend.h"
#include "core/sweep/sweep_spec.h"
#include "core/telemetry/queue.h"

namespace batchscope::ui {

class Engine;

/// Something that the engine works on: a training, a search, a sweep, the demo, a prediction of memory. Lives in the UI
/// thread; what the worker reports arrives there as signals. Records do not come as signals but through a queue that
/// the screen empties.
class Job : public QObject {
  Q_OBJECT

public:
  enum class Kind { train, find, sweep, demo, predict };
  enum class State { waiting, working, done, failed, cancelled };

  /// What a run of this job reports, for the screen.
  struct LiveRun {
    std::int64_t id = 0; ///< in the database
    run::RunSpec spec;
    run::RunStart start;
    std::shared_ptr<telemetry::RecordQueue> queue; ///< filled as long as somebody holds it
    std::shared_ptr<run::RunControl> control;      ///< of this run alone
  };

  Kind kind() const { return kind_; }
  State state() const { return state_; }
  bool over() const { return state_ != State::waiting && state_ != State::working; }
  QString title() const { return title_; }
  /// Text of the button that cancels it: "Stop run", "Stop sweep".
  QString stop_text() const;
  QString error() const { return error_; } ///< of a failed job: one line
  /// 0..1, and what is done now; nothing where the share is not known.
  std::optional<double> progress() const { return progress_; }
  QString activity() const { return activity_; }
  double seconds() const;                     ///< that it has worked so far
  std::optional<double> seconds_left() const; ///< by the progress so far

  /// Ends it at the next step boundary (or between two trials); what was done stays stored. A waiting job never starts:
  /// it is cancelled by the time this returns, or a moment later where the worker was about to begin it.
  void cancel();

  const std::vector<search::Probe>& probes() const { return probes_; }
  const std::vector<search::Timing>& timings() const { return timings_; }
  /// How it searches, where it does.
  const QString& strategy() const { return strategy_; }
  /// Of a search that is through.
  const std::shared_ptr<const search::SearchResult>& search_result() const { return search_result_; }
  /// The number of the search in the database; nothing until it is stored.
  const std::optional<std::int64_t>& stored_search() const { return stored_search_; }
  /// What the demo's sweep speaks for, once it is through.
  const std::optional<sweep::Recommendation>& recommendation() const { return recommendation_; }
  const std::optional<predict::PeakCurve>& predicted() const { return predicted_; }
  std::uint64_t budget_bytes() const { return budget_; }
  const run::RunSpec& spec() const { return spec_; }

Q_SIGNALS:
  void state_changed();
  void progressed();
  /// A search ran a size; the prediction is what is known by now.
  void probed();
  void timed();
  /// A search is through: search_result() is there; it is stored: stored_search() is.
  void searched();
  void search_stored();
  /// A run is about to make its first step.
  void run_started(const batchscope::ui::Job::LiveRun& run);
  void run_ended(std::int64_t id, const QString& status, const QString& reason);

private:
  friend class Engine;
  friend class JobWatch;
  Job(Kind kind, QString title, run::RunSpec spec, QString strategy, Engine& engine);

  Engine& engine_;
  Kind kind_;
  State state_ = State::waiting;
  QString title_;
  QString error_;
  QString activity_;
  std::optional<double> progress_;
  QElapsedTimer worked_;
  double took_ = 0; ///< once it is over
  run::RunSpec spec_;
  QString strategy_;
  std::vector<search::Probe> probes_;
  std::vector<search::Timing> timings_;
  std::shared_ptr<const search::SearchResult> search_result_;
  std::optional<std::int64_t> stored_search_;
  std::optional<sweep::Recommendation> recommendation_;
  std::optional<predict::PeakCurve> predicted_;
  std::uint64_t budget_ = 0;
  std::shared_ptr<run::JobControl> control_ = std::make_shared<run::JobControl>();
};

struct FindRequest {
  run::RunSpec spec;
  std::string strategy = "predictive";
  std::optional<std::int64_t> start;
  double factor = 0.9;
  double margin = 0.2;
};

/// Does jobs one after the other on a thread of its own, stores what they bring and tells of them. LibTorch has one
/// allocator for a device, so there is one worker. UI thread.
class Engine : public QObject {
  Q_OBJECT

public:
  explicit Engine(std::filesystem::path database, QObject* parent = nullptr);
  ~Engine() override; ///< cancels what is left and waits for the worker

  // Each returns the job, owned by the engine. What is wrong with a spec is said by the job, which fails.
  Job* train(const run::RunSpec& spec);
  Job* find(const FindRequest& request);
  Job* sweep(const sweep::SweepSpec& spec);
  /// The demo sweep: search, sweep over sizes, and a run that asks for more than fits, on the bundled images.
  Job* demo();
  /// Two small probes for Job::predicted(); stores nothing.
  Job* predict(const run::RunSpec& spec);

  const QList<Job*>& jobs() const { return jobs_; } ///< oldest first
  Job* working() const;                             ///< the one that works now, if any
  bool idle() const;
  /// Cancels all; idle_now() comes when the worker rests.
  void cancel_all();

  /// Loads LibTorch in the worker's thread, so that the first job begins at once. library_loaded() comes when it is
  /// there, unless it cannot be loaded, which the first job says.
  void load_library();
  std::optional<int> threads() const { return threads_; } ///< that compute; known once it is loaded

  /// Records stored and waiting, over what this process writes.
  store::RunStore::Load load() const;
  const std::filesystem::path& database() const { return database_; }
  /// Of the data that jobs use; shared with whoever plans.
  const std::shared_ptr<data::DataPool>& data() const { return data_; }

Q_SIGNALS:
  void job_added(batchscope::ui::Job* job);
  void job_changed(batchscope::ui::Job* job);
  void idle_now();
  void library_loaded();

private:
  friend class Job;
  class Worker;
  /// What a job does on the worker's thread; throws Error where it fails.
  using Work = std::function<void(class JobWatch& watch, store::RunStore* store)>;

  /// What a job is, beside what it does.
  struct Order {
    Job::Kind kind;
    QString title;
    run::RunSpec spec;
    bool stores = true;    ///< whether the work needs the database
    QString strategy = {}; ///< of its search; empty: the usual one
  };
  Job* add(const Order& order, Work work);
  /// Ends a job at once that the worker has not begun yet.
  void withdraw(Job* job);
  void begin(Job* job);
  void end(Job* job, Job::State state, const QString& error);
  void show_progress();
  void loaded_with(int threads);

  std::filesystem::path database_;
  QList<Job*> jobs_;
  std::shared_ptr<data::DataPool> data_ = std::make_shared<data::DataPool>();
  QTimer progress_; ///< while a job works
  std::optional<int> threads_;
  std::unique_ptr<Worker> worker_;
};

} // namespace batchscope::ui
