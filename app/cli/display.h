#pragma once

#include <condition_variable>
#include <mutex>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "app/cli/context.h"
#include "app/cli/output.h"
#include "core/sweep/sweep.h"
#include "core/telemetry/run_clock.h"

namespace batchscope::cli {

/// Shows the progress of a job on stderr: a line per event and, on a terminal, a progress line with rate and time left.
/// The job's thread only stores its reports under a short lock; a separate thread writes, so a slow terminal never
/// delays the job.
class Display : public sweep::SweepWatch {
public:
  explicit Display(const Context& context);
  ~Display() override; ///< writes all pending lines

  /// Prints a line; does nothing with --quiet.
  void say(std::string line);
  /// Restarts the numbering of probes at 1.
  void begin_search() { probes_ = 0; }
  /// Number of the last search that was stored. The job's thread only, as are the calls of a Watch.
  std::optional<std::int64_t> search() const { return search_; }

  void combination(std::size_t index, std::size_t count, const run::RunSpec& spec) override;
  void refused(std::int64_t id, const std::string& reason) override;
  void probe(const search::Probe& probe, std::uint64_t budget_bytes) override;
  void timing(const search::Timing& timing) override;
  void started(const job::StartedRun& run) override;
  /// In place of started(), for a stored run of which only the name is known.
  void watching(std::int64_t id, const std::string& name);
  void record(const telemetry::StepRecord& record) override;
  void event(telemetry::Event event) override;
  void not_stored(const std::string& why) override;      ///< printed even with --quiet: the job may be waiting for it
  void files_replaced(const std::string& what) override; ///< printed even with --quiet
  void search_stored(std::int64_t id) override { search_ = id; }
  void ended(std::int64_t id, const telemetry::RunOutcome& outcome) override;

private:
  /// State of the progress line.
  struct Running {
    schedule::RunLength length;
    std::uint64_t budget = 0;
    telemetry::StepRecord last;
    telemetry::RunClock clock;
  };

  void begin(const schedule::RunLength& length, std::uint64_t budget);
  void add_line(std::string line);
  void work();
  std::string progress_line(const Running& running) const;

  const bool quiet_;
  const Palette palette_;
  int probes_ = 0; ///< of the current search; the job's thread only
  std::optional<std::int64_t> search_;

  std::mutex mutex_;
  std::condition_variable changed_;
  // Guarded by mutex_.
  std::vector<std::string> lines_;
  std::optional<Running> running_;
  bool closing_ = false;

  std::thread thread_; ///< last: it uses all of the above
};

} // namespace batchscope::cli
