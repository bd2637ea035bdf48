#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include <SQLiteCpp/SQLiteCpp.h>

#include "core/store/file/detail/chunk.h"
#include "core/store/run_store.h"
#include "core/telemetry/outcome.h"
#include "core/telemetry/queue.h"

namespace batchscope::store::detail {

struct SeriesBuffer {
  std::int64_t id = 0;
  std::string name;
  Summary summary;            ///< of all values, including those in the database
  std::vector<double> values; ///< at FrameBuffer::steps
};

/// Series with the same steps, and their points that are not sealed.
struct FrameBuffer {
  std::int64_t id = 0;
  bool exists = false;     ///< in the database
  std::int64_t first = 0;  ///< number of the first point in `steps`; all points before it are sealed
  std::size_t in_tail = 0; ///< points of `steps` in the database's tail
  std::size_t to_seal = 0; ///< points of `steps` that the current transaction seals
  std::vector<std::int64_t> steps;
  std::vector<SeriesBuffer> series;

  void add(std::int64_t step, const std::vector<double>& values);
};

/// A run's data between its training loop and the database. Entries taken from the queue stay here until the
/// transaction that stores them is committed, so a failed transaction loses nothing and is retried. Used by the writer
/// thread only, but for `queue`.
class RunBuffer {
public:
  RunBuffer(std::int64_t id, std::string uid, const NewRun& run, std::size_t max_waiting);

  std::atomic<std::int64_t> id; ///< only rebind() changes it; any thread may read it
  const std::string uid;
  const std::function<void(const Command&)> on_command;     ///< as in NewRun
  const std::function<void(const std::string&)> on_trouble; ///< as in NewRun
  const std::function<void(const std::string&)> on_notice;  ///< as in NewRun
  telemetry::RecordQueue queue;

  /// Adds a series with all its points, in a frame of its own, and an event, which is only stored. For runs that were
  /// made elsewhere.
  void add_series(const std::string& name, const std::vector<Point>& points);
  /// Series that have a value at each of these steps, in one frame; values[k][i] is of the k-th at steps[i].
  void add_frame(const std::vector<std::string>& names, const std::vector<std::int64_t>& steps,
                 const std::vector<std::vector<double>>& values);
  void add_event(const telemetry::Event& event) { events_.push_back(event); }
  /// Goes on with a stored series in a frame of its own, `summary` of which is stored and the first `sealed` points in
  /// chunks; `points` are all of its points, those that are stored included.
  void extend_series(std::int64_t frame, std::int64_t series, const std::string& name, const Summary& summary,
                     std::int64_t sealed, const std::vector<Point>& points);
  void set_progress(const telemetry::RunOutcome& outcome) { progress_ = telemetry::RunProgress(outcome); }
  /// Goes on with a stored run: its frames, and what it had come to. For an empty buffer.
  void resume(std::vector<std::unique_ptr<FrameBuffer>> frames, const telemetry::RunProgress& progress);

  /// Replaces the run's start with the next transaction; see RunWriter::set_start(). Any thread.
  void set_start(const std::string& start_json);
  /// Takes all entries from the queue, and a new start.
  void drain();
  /// Finds the run again in a database that was reopened after its files were replaced: its rows have other numbers
  /// there. The database holds what was committed(), unless the old files could not be read; then the run is written
  /// anew with what is here. `process` writes it from now on.
  void rebind(SQLite::Database& database, std::int64_t process);
  /// Number of points of all series, stored or not.
  std::int64_t points() const;

  /// Whether it holds anything that the database does not.
  bool dirty() const { return entries_ > 0 || start_ || (outcome && !closed_); }
  std::size_t entries() const { return entries_; }
  /// Entries of the queue that the database has. Any thread.
  std::uint64_t stored() const { return stored_; }
  /// The start that the database does not have yet; null if it has.
  const std::string* new_start() const { return start_ ? &*start_ : nullptr; }
  /// Whether it holds anything that needs Durability::status.
  bool urgent() const;
  /// Call it after the transaction that stored everything was committed.
  void committed();

  std::vector<std::unique_ptr<FrameBuffer>>& frames() { return frames_; }
  const std::vector<telemetry::Event>& events() const { return events_; }
  /// The outcome so far, from the run's records.
  const telemetry::RunOutcome& progress() const { return progress_.outcome(); }

  std::optional<telemetry::RunOutcome> outcome; ///< set when the run has ended
  /// When the run's points were last written to the ledger.
  std::chrono::steady_clock::time_point in_ledger{};
  bool closed() const { return closed_; }
  /// Whether the run still takes commands.
  bool takes_commands() const { return on_command && !outcome; }
  /// Reports to the run why it cannot be stored, if that has changed; an empty `error` means that it can. Reports a new
  /// `notice`.
  void tell(const std::string& error, const std::string& notice);
  /// Reports to the run that an error reported before is over: finish() has written the run.
  void report_stored();
  /// Sets a notice from before the run, which is not reported.
  void expect_notice(const std::string& notice) { noticed_ = notice; }

private:
  void take(const telemetry::StepRecord& record);
  void take(telemetry::Event&& event);
  void add_other(std::int64_t step, const std::string& name, double value);
  void add_step_frame(const std::vector<std::size_t>& columns);

  bool find_frames(SQLite::Database& database);
  void start_over(SQLite::Database& database, std::int64_t process);
  void forget_stored();

  NewRun run_; ///< without its callbacks
  std::vector<std::unique_ptr<FrameBuffer>> frames_;
  /// The frames of step_series(), once there is a record: one, unless a run goes on that lacks some of them.
  struct StepFrame {
    FrameBuffer* frame;
    std::vector<std::size_t> columns; ///< of its series in step_series()
  };
  std::vector<StepFrame> steps_;
  std::map<std::string, FrameBuffer*> others_;
  std::vector<telemetry::Event> events_;
  std::vector<double> row_, part_; ///< kept to reuse their memory
  telemetry::RunProgress progress_;
  std::size_t entries_ = 0;
  std::atomic<std::uint64_t> stored_{0};
  std::mutex start_mutex_;
  std::optional<std::string> given_start_; ///< guarded by start_mutex_
  std::optional<std::string> start_;       ///< taken by drain()
  std::string reported_;                   ///< the last error that tell() reported
  std::string noticed_;                    ///< and the last notice
  bool closed_ = false;
};

} // namespace batchscope::store::detail
