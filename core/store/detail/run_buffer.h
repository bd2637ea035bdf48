#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include <SQLiteCpp/SQLiteCpp.h>

#include "core/store/detail/chunk.h"
#include "core/store/run_store.h"
#include "core/telemetry/queue.h"
#include "core/telemetry/run_clock.h"

namespace batchscope::store::detail {

struct SeriesBuffer {
  std::int64_t id = 0;
  std::string name;
  Summary summary;            ///< of all values, those in the database included
  std::vector<double> values; ///< those of FrameBuffer::steps
};

/// Series with the same steps, and those of their points that are not sealed.
struct FrameBuffer {
  std::int64_t id = 0;
  bool exists = false;     ///< in the database
  std::int64_t first = 0;  ///< number of the first point in `steps`, which is how many are sealed
  std::size_t in_tail = 0; ///< points of `steps` that the database's tail holds
  std::size_t to_seal = 0; ///< points of `steps` that the transaction in progress seals
  std::vector<std::int64_t> steps;
  std::vector<SeriesBuffer> series;

  void add(std::int64_t step, const std::vector<double>& values);
};

/// One run between its loop and the database. What came out of the queue stays here until the transaction that stores
/// it is committed, so a transaction that fails loses nothing and is simply tried again.
/// The storing thread's, but for `queue`.
class RunBuffer {
public:
  RunBuffer(std::int64_t id, std::string uid, const NewRun& run, std::size_t most_waiting);

  std::atomic<std::int64_t> id; ///< changed by rebind() alone; read by any thread
  const std::string uid;
  const std::function<void(const Command&)> on_command;     ///< as in NewRun
  const std::function<void(const std::string&)> on_trouble; ///< as in NewRun
  const std::function<void(const std::string&)> on_notice;  ///< as in NewRun
  telemetry::RecordQueue queue;

  /// Takes what waits in the queue.
  void drain();
  /// Finds the run again in a database that was opened anew, after its files were replaced: rows have other numbers
  /// there. What is stored there of the run is what committed() was called for, unless the old files could not be read;
  /// then the run begins anew with what is here. `process` writes it from now on.
  void rebind(SQLite::Database& database, std::int64_t process);
  /// Points of all series, stored or not.
  std::int64_t points() const;

  /// Anything here that the database has not.
  bool dirty() const { return entries_ > 0 || (outcome && !closed_); }
  std::size_t entries() const { return entries_; }
  /// Holds something that must be on the disk, not only on its way: see Durability.
  bool urgent() const;
  /// The transaction that stored everything was committed.
  void committed();

  std::vector<std::unique_ptr<FrameBuffer>>& frames() { return frames_; }
  const std::vector<telemetry::Event>& events() const { return events_; }
  /// What the run came to, as far as its records tell.
  const RunOutcome& progress() const { return progress_; }

  std::optional<RunOutcome> outcome; ///< set when the run is finished
  /// When the ledger was told of the run's points last.
  std::chrono::steady_clock::time_point in_ledger{};
  bool closed() const { return closed_; }
  /// Whether commands to the run are still wanted.
  bool obeys() const { return on_command && !outcome; }
  /// Tells the run what keeps it from being stored, where that is news to it; nothing does where `error` is empty. A
  /// new `notice` is told as such.
  void tell(const std::string& error, const std::string& notice);
  /// A notice from before the run.
  void expect_notice(const std::string& notice) { noticed_ = notice; }

private:
  void take(const telemetry::StepRecord& record);
  void take(telemetry::Event&& event);
  void take_time();
  void add_other(std::int64_t step, const std::string& name, double value);

  bool find_frames(SQLite::Database& database);
  void start_over(SQLite::Database& database, std::int64_t process);
  void forget_stored();

  const NewRun run_; ///< without its functions
  std::vector<std::unique_ptr<FrameBuffer>> frames_;
  FrameBuffer* steps_ = nullptr; ///< the frame of step_series(), once there is a record
  std::map<std::string, FrameBuffer*> others_;
  std::vector<telemetry::Event> events_;
  std::vector<double> row_; ///< kept for its memory
  RunOutcome progress_;
  telemetry::RunClock clock_;
  std::size_t entries_ = 0;
  std::string told_;    ///< the last error of tell()
  std::string noticed_; ///< and the last notice
  bool closed_ = false;
};

} // namespace batchscope::store::detail
