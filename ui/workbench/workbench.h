#pragma once

#include <QObject>
#include <QUndoStack>

#include <filesystem>
#include <memory>

#include "ui/database/run_database.h"
#include "ui/jobs/job_queue.h"
#include "ui/opened_runs/open_run.h"
#include "ui/theme/theme.h"

namespace batchscope::ui {

/// Shared by all pages: engine, database, opened runs, undo. Pages depend on it and not on each other. UI thread.
class Workbench : public QObject {
  Q_OBJECT

public:
  Workbench(const Theme& theme, std::filesystem::path database, QObject* parent = nullptr);
  ~Workbench() override;

  const Theme& theme() const { return theme_; }
  JobQueue& job_queue() { return *job_queue_; }
  RunDatabase& run_database() { return *run_database_; }
  QUndoStack& undo_stack() { return undo_; } ///< for plans

  /// The run that Live and Schedule show, or null; the other opened runs are plotted with it.
  OpenRun* current() const { return runs_.isEmpty() ? nullptr : runs_.first(); }
  const QList<OpenRun*>& opened() const { return runs_; }
  /// More runs in one plot cannot be told apart.
  static constexpr qsizetype max_opened = 8;
  /// Opens runs (the first becomes current), at most so many, and closes others; runs that are open already stay open.
  void open(const QList<qint64>& ids);
  OpenRun* find_opened(std::int64_t id) const;

  // Start jobs; each switches to the page that shows the job.
  Job* start_run(const run::RunSpec& spec);
  Job* resume_run(std::int64_t run, const run::RunSpec& spec);
  Job* start_search(const FindRequest& request);
  Job* start_demo();
  Job* start_sweep(const sweep::SweepSpec& spec);
  /// Fills the new run form with this spec and shows it.
  void propose_run(const run::RunSpec& spec);
  /// Plans the batch sizes of these settings on the Schedule page.
  void propose_plan(const run::RunSpec& spec);
  /// Plans a sweep over these settings on the Sweep page.
  void propose_sweep(const run::RunSpec& base);
  /// Compares these runs on the Compare page.
  void compare(const QList<qint64>& runs);
  void compare_all();
  /// Compares all runs of a sweep there, also those that it has not made yet.
  void compare_sweep(qint64 sweep);

Q_SIGNALS:
  void current_changed();
  void opened_changed();
  void names_changed(); ///< of opened runs
  void search_started(batchscope::ui::Job* job);
  void run_proposed(const batchscope::run::RunSpec& spec);
  void plan_proposed(const batchscope::run::RunSpec& spec);
  void sweep_proposed(const batchscope::run::RunSpec& base);
  void comparison_wanted(const QList<qint64>& runs); ///< empty: all
  void sweep_comparison_wanted(qint64 sweep);
  /// The Runs page is to select these runs, once it has them.
  void selection_wanted(const QList<qint64>& runs);
  /// A page is requested, by its key: `runs`, `new-run`, `find`, `live`, `schedule`, `sweep`, `compare`, `advice`.
  void page_wanted(const QString& page);
  /// `page` is wanted if `before` is still shown.
  void next_page(const QString& before, const QString& page);
  /// The user wants to choose what to import.
  void import_wanted();
  void problem(const QString& text);
  void note(const QString& text);

private:
  void watch(Job* job);
  void take_names();
  void set_opened(const QList<OpenRun*>& runs);

  const Theme& theme_;
  std::unique_ptr<JobQueue> job_queue_;
  std::unique_ptr<RunDatabase> run_database_;
  QUndoStack undo_;
  QList<OpenRun*> runs_;
  const Job* shown_job_ = nullptr; ///< its runs are opened when they start
};

} // namespace batchscope::ui
