#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "core/base/error.h"
#include "core/telemetry/record.h"

namespace batchscope::store {

/// What the store refuses now may succeed when it is tried again: another program has the file locked, or the disk has
/// no room.
class TransientError : public Error {
public:
  using Error::Error;
};

/// What a process asks of the one that trains a run.
struct Command {
  std::string verb;               ///< pause, continue, step, stop, stop-job (and all that comes after it) or edit
  std::string detail_json = "{}"; ///< of an edit: {"schedule": TEXT, "batch": N or null}
  std::int64_t number = 0;        ///< of one that is received: what RunStore::send() returned
};

/// What is written when a run begins.
struct NewRun {
  std::string name;
  std::string status = "running"; ///< or queued
  std::string spec_json;
  std::optional<std::int64_t> sweep;
  std::optional<std::int64_t> batch; ///< first nominal batch, where known
  std::string start_json = "{}";     ///< what was chosen before the first step
  /// Receives what is sent to the run, each command once and in order, about StoreOptions::interval after it was sent.
  /// Called on the store's writer thread, not any more once RunWriter::finish() has returned or the writer is gone.
  /// Must return at once, never throw, and call nothing of the store. Without it commands to the run stay untaken.
  std::function<void(const Command&)> on_command;
  /// Receives why the run's records cannot be stored, whenever that changes; empty when they are stored again. Called,
  /// and to behave, as on_command.
  std::function<void(const std::string&)> on_trouble;
  /// Receives what was done where another program replaced the database's files, once each time. Called, and to behave,
  /// as on_command.
  std::function<void(const std::string&)> on_notice;
  /// Whether the run is to end soon, which its loop must not miss because it waits for room; see
  /// StoreOptions::most_waiting. Any thread; not called any more once the loop has ended.
  std::function<bool()> ending;
};

/// What a run came to, as stored and listed. Doubles may be NaN or infinite.
struct RunOutcome {
  std::string status;
  std::string reason;
  std::optional<std::int64_t> batch;
  std::int64_t steps = 0;
  std::int64_t examples_seen = 0;
  double epoch = 0;
  double train_coverage = 0;
  std::int64_t oom_events = 0;
  std::optional<double> loss;
  std::optional<double> validation_loss;
  std::optional<double> validation_accuracy;
  std::uint64_t peak_bytes = 0;
  double seconds = 0;             ///< since the run's start, pauses left out; see telemetry::RunClock
  double examples_per_second = 0; ///< of the training: pauses and evaluations left out
};

/// One row of the run table.
struct RunRow {
  std::int64_t id = 0;
  std::string uid; ///< 32 hexadecimal digits; the same in every database that the run is copied to
  std::string name;
  std::string started; ///< UTC, ISO 8601
  std::optional<std::int64_t> sweep;
  std::string note;   ///< a person's; empty for none
  RunOutcome outcome; ///< of a running or interrupted run: as far as it was stored
};

struct StoredEvent {
  std::int64_t step = 0;
  double seconds = 0;
  std::string kind;
  std::string detail_json;
};

struct Point {
  std::int64_t step = 0;
  double value = 0;
};

/// What is known of a series without reading it.
struct SeriesSummary {
  std::string name;
  std::int64_t count = 0;
  std::int64_t last_step = 0;
  double last = 0;
  double min = 0; ///< NaN left out, as in max; NaN where there is nothing else
  double max = 0;
};

/// A search as it was stored.
struct StoredSearch {
  std::int64_t id = 0;
  std::string created;     ///< UTC, ISO 8601
  std::string spec_json;   ///< of what was searched
  std::string result_json; ///< its answer and its probes
};

/// A run being written. `sink()` is for the loop's thread: it pushes into a lock-free ring and returns. The store's
/// writer thread drains all rings every quarter of a second, in one transaction.
class RunWriter;

/// How a RunStore behaves. The defaults are meant for every use; tests set others.
struct StoreOptions {
  std::chrono::milliseconds interval{250};  ///< between two transactions
  std::chrono::milliseconds patience{5000}; ///< with a file that another program has locked
  std::size_t most_waiting =
      1'000'000; ///< entries of a run that may wait in memory before its loop waits, unless it is ending
};

/// The run database for writing: one SQLite file in WAL mode and the one thread that writes to it.
/// Open it only once the input is known to be good; it makes the file (and its folder) when missing.
/// Thread-safe. Errors: Error (input) for a file that is no database, of another program, newer, read-only or locked;
/// Error (unavailable) where the disk is full or the file damaged at the start. Where the disk refuses something later,
/// training goes on and the writer tries again at every wake-up; finish(), flush(), load() and NewRun::on_trouble say
/// so. What a lock or a full disk refuses is a TransientError once the store is open.
class RunStore {
public:
  explicit RunStore(const std::filesystem::path& file, const StoreOptions& options = {});
  ~RunStore(); ///< writes what waits; runs that are still being written keep the file open until they are done
  RunStore(const RunStore&) = delete;
  RunStore& operator=(const RunStore&) = delete;

  std::unique_ptr<RunWriter> begin(const NewRun& run);
  /// A run that never starts: stored with its outcome (a combination of a sweep that cannot run, say).
  std::int64_t add_finished(const NewRun& run, const RunOutcome& outcome);
  std::int64_t add_sweep(const std::string& spec_json);
  /// `device`, `model`, `data` etc. are in `spec_json`; the answer and its probes in `result_json`.
  std::int64_t add_search(const std::string& spec_json, const std::string& result_json);

  /// Names and notes of runs, also of running ones and those of other processes. Throw Error (input) where there is
  /// none.
  void rename(std::int64_t run, const std::string& name);
  void set_note(std::int64_t run, const std::string& text);
  /// Marks runs as deleted, or takes that back; all of them or none. Deleted runs are there for RunReader::deleted()
  /// and this alone. Throws Error (input) for a run that is not there or is not over yet.
  void set_deleted(const std::vector<std::int64_t>& runs, bool deleted);
  /// Removes what is marked as deleted for good, a part at a time, so that others may write in between; returns how
  /// many runs that were. Throws with some of them removed. The file keeps its size; later runs use the room in it.
  std::int64_t purge_deleted();

  /// Takes the runs that are there as all there is, so that RunReader::check() does not name those that are missing any
  /// more.
  void accept_missing();

  /// Sends a command to whichever process trains the run; returns the command's number, see RunReader::taken(). Throws
  /// Error (input) for an unknown verb, a run that is not there, and one that is not running, naming its status.
  std::int64_t send(std::int64_t run, const Command& command);

  /// Waits until everything that was reported so far is stored; throws Error (failed) where that did not succeed.
  void flush();

  /// Records and events stored and waiting, over all runs of this store, and what keeps them waiting (for a status
  /// line).
  struct Load {
    std::uint64_t stored = 0;
    std::uint64_t waiting = 0;
    std::string error;  ///< of the last attempt to store; empty when it succeeded
    std::string notice; ///< what was done where another program replaced the database's files; empty where none did
  };
  Load load() const;

  class Impl;

private:
  std::shared_ptr<Impl> impl_;
};

class RunWriter {
public:
  virtual ~RunWriter() = default; ///< a run that was not finished is stored as failed, "abandoned"
  /// Changes only where the database's files were replaced and another run had taken the number.
  virtual std::int64_t id() const = 0;
  virtual telemetry::Sink& sink() = 0;
  /// Writes what is left and the outcome. Call it when the loop has ended; any thread. Throws Error (failed), or
  /// TransientError of that kind, where something refused it; it may be called again then, and the store goes on trying
  /// as long as it lives.
  virtual void finish(const RunOutcome& outcome) = 0;
};

/// How far somebody has read the list of runs; begins with nothing. See RunReader::changes().
struct ListCursor {
  std::optional<std::int64_t> change; ///< of the database when it was read
  std::int64_t generation = 0;        ///< of the files that the reader has open
  std::int64_t removed = 0;           ///< runs that were removed for good by then
  std::set<std::int64_t> known;
  std::map<std::int64_t, std::string> open; ///< status of runs that are not over
};

/// What is new in the list of runs.
struct ListChanges {
  bool all = false;                  ///< `rows` is the whole list
  std::vector<RunRow> rows;          ///< new ones and those that changed, oldest first
  std::vector<std::int64_t> removed; ///< deleted since, ascending
  std::size_t rows_read = 0;         ///< of the table of runs

  bool empty() const { return !all && rows.empty() && removed.empty(); }
};

/// The run database for reading: sees what other processes write while they write it. Makes no database; Error (input)
/// where there is none, or where the file is something else, newer or empty. One thread at a time.
/// A run whose process is gone reads as `interrupted`.
class RunReader {
public:
  explicit RunReader(const std::filesystem::path& file);
  ~RunReader();
  RunReader(RunReader&&) noexcept;
  RunReader& operator=(RunReader&&) noexcept;

  /// All that `read` reads of this reader is of one moment, whatever is written meanwhile. While it lasts the file's
  /// log of changes cannot shrink, so nothing in it should wait for a person.
  void at_one_moment(const std::function<void()>& read) const;

  /// All runs, or those of `where` (see list_filter.h's grammar), oldest first.
  std::vector<RunRow> list(const std::string& where = {}) const;
  /// What changed in the list of all runs since `cursor` was there last, which moves it on. Costs what changed, however
  /// many runs there are, and a look at those that are not over: their processes may be gone.
  ListChanges changes(ListCursor& cursor) const;
  std::vector<RunRow> deleted() const; ///< runs marked as deleted, which all other functions take for not there
  RunRow run(std::int64_t id) const;   ///< throws Error (input) where there is none
  /// Those of the runs that are there, in the order of `ids`: some may have been deleted meanwhile.
  std::vector<RunRow> present(const std::vector<std::int64_t>& ids) const;
  std::string spec_json(std::int64_t id) const;
  std::string start_json(std::int64_t id) const;
  std::vector<StoredEvent> events(std::int64_t id) const;
  std::vector<std::string> series_names(std::int64_t id) const;
  std::vector<SeriesSummary> summaries(std::int64_t id) const; ///< in the order of series_names()
  /// All points of a series in order; throws Error (input) naming the known ones where there is none.
  std::vector<Point> series(std::int64_t id, const std::string& name) const;
  std::vector<std::int64_t> runs_of_sweep(std::int64_t sweep) const; ///< throws Error (input) where there is none
  std::string sweep_json(std::int64_t id) const;                     ///< its spec
  std::string search_json(std::int64_t id) const;                    ///< its result
  /// Searches with a greater number than `after`, oldest first; where there are more than `most`, the newest of them.
  std::vector<StoredSearch> searches(std::int64_t after = 0, std::int64_t most = 1000) const;

  /// Whether the process that trains the run has taken a command; throws Error (input) where there is none.
  bool taken(std::int64_t command) const;

  /// Changes whenever another connection has changed the database: equal numbers mean that nothing is new. Cheap.
  std::int64_t version() const;

  /// What is damaged or missing, one line each; empty when nothing is. Missing is what the ledger beside the database
  /// (FILE-ledger) says was stored, and is neither there nor purged.
  std::vector<std::string> check() const;
  /// The part of check() that is quick enough for every opening: what is missing, and whether the file is damaged where
  /// a program that wrote to it ended abruptly.
  std::vector<std::string> quick_check() const;
  /// What was done where another program replaced the database's files while this reader was open; empty where none
  /// did.
  std::string notice() const;

  class Impl;

private:
  std::unique_ptr<Impl> impl_;
};

/// Throws Error (input) for a file that RunStore would refuse for what is in it. Makes and changes nothing; a file that
/// is missing, empty or of an older format is fine.
void check_usable(const std::filesystem::path& file);

/// Why runs cannot be written into a database that is there: permissions of the file, or of its folder, in which SQLite
/// keeps two more. Empty where they can be, and where there is no file.
std::string why_read_only(const std::filesystem::path& file);

/// `$BATCHSCOPE_DB`, else `$XDG_DATA_HOME/batchscope/runs.db`, else `~/.local/share/batchscope/runs.db`.
std::filesystem::path default_database();

} // namespace batchscope::store
