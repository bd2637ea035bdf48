#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "core/store/run_row.h"
#include "core/store/transient_error.h"
#include "core/telemetry/outcome.h"
#include "core/telemetry/record.h"

namespace batchscope::store {

/// A request to the process that trains a run.
struct Command {
  std::string
      verb; ///< pause, continue, step, stop, stop-job (the run and all that follows in its job), edit, budget, shares
  std::string detail_json = "{}"; ///< for an edit: {"schedule": TEXT, "batch": N or null}; a stop: {"save": BOOL}
  std::int64_t number = 0;        ///< of a received command: what RunStore::send() returned
};

/// A run that goes on from a checkpoint.
struct ResumedRun {
  std::int64_t run = 0;            ///< its number
  std::int64_t steps = 0;          ///< at the checkpoint
  std::int64_t events = 0;         ///< that the run had reported by then, without those that only carry values
  telemetry::RunProgress progress; ///< at the checkpoint
};

/// Properties of a run that begins, to be stored, and its callbacks.
struct NewRun {
  std::string name;
  telemetry::RunStatus status = telemetry::RunStatus::running; ///< or queued
  std::string spec_json;
  std::optional<std::int64_t> sweep;
  std::string settings_key{};          ///< of a run of a sweep, see WaitingRun; empty: not known
  std::optional<std::int64_t> batch;   ///< first nominal batch, if known
  std::string start_json = "{}";       ///< run::RunStart as JSON
  std::string environment_json = "{}"; ///< what the run is made with and on: an object, empty where it is not known
  std::optional<std::int64_t> claimed; ///< the waiting run that begins, see SweepQueue::claim(); else it is a new one
  /// The run that goes on; it keeps its name, start and environment. Records, events and commands from after its
  /// checkpoint are removed. RunStore::begin() throws Error (input) if it does not exist, has not ended or has
  /// finished.
  std::optional<ResumedRun> resumed;
  /// Called with each command sent to the run, once and in order, about StoreOptions::interval after it was sent.
  /// Called on the store's writer thread, never after RunWriter::finish() has returned or the writer is destroyed. Must
  /// return at once, never throw, and not call the store. Without it, commands to the run are not processed.
  std::function<void(const Command&)> on_command;
  /// Called with the reason why the run's records cannot be stored whenever that changes; empty once they are stored
  /// again, at the latest by the first RunWriter::finish() unless that fails. Same rules as on_command.
  std::function<void(const std::string&)> on_trouble;
  /// Called each time another program has replaced the database's files, with what was done. Same rules as on_command.
  std::function<void(const std::string&)> on_notice;
  /// Whether the run is to end soon; its training loop then no longer blocks when the queue is full, see
  /// StoreOptions::max_waiting.
  /// Any thread; not called after the loop has ended.
  std::function<bool()> ending;
};

/// Writes one run. `sink()` is for the training loop's thread: it appends to a queue and returns. The store's writer
/// thread drains all queues every quarter of a second, in one transaction.
class RunWriter;

/// Options of a RunStore. The defaults suit every use; tests change them.
struct StoreOptions {
  std::chrono::milliseconds interval{250};  ///< between two transactions
  std::chrono::milliseconds patience{5000}; ///< how long to wait for a file that another program has locked
  std::size_t max_waiting =
      1'000'000; ///< entries of a run that wait in memory before its loop waits, unless it is ending
};

/// A run that was made elsewhere, whole or as far as it has come.
struct CompleteRun {
  std::string uid; ///< 32 hexadecimal digits; the same whenever the same run is read
  /// Handling of a stored run with this uid that has other points.
  enum class Update {
    never,   ///< it stays as it is
    extend,  ///< new points are added; if the points that both have differ, it is another run, which gets the next uid
    replace, ///< new points are added; a series that differs in other points and does not end earlier replaces it
  } update = Update::never;
  std::string name;
  std::string note;
  std::vector<std::string> tags;
  std::string started; ///< UTC, ISO 8601
  std::string spec_json = "{}";
  std::string start_json = "{}";
  std::string environment_json = "{}";
  std::optional<std::size_t> sweep; ///< index of its sweep among those that are stored with it
  std::int64_t workers = 1;
  telemetry::RunOutcome outcome; ///< of a running one: as long as this store is open, readers see it as running
  std::vector<telemetry::Event> events;
  std::vector<std::pair<std::string, std::vector<Point>>> series; ///< each in ascending order of steps, each step once
};

/// Writes a run database (one SQLite file in WAL mode). Only its own thread writes to the file. Open it only after
/// checking the input: it creates the file (and its folder) if missing. Thread-safe. Throws Error (input) for a file
/// that is not a database, belongs to another program, is newer, read-only or locked; Error (unavailable) if the disk
/// is full or the file is damaged when it is opened. If writing fails later, training goes on and the writer retries at
/// every wake-up; finish(), flush(), backlog() and NewRun::on_trouble report it. Once the store is open, a lock or a
/// full disk causes a TransientError.
class RunStore {
public:
  explicit RunStore(const std::filesystem::path& file, const StoreOptions& options = {});
  ~RunStore(); ///< writes all waiting entries; runs that are still being written keep the file open until they end
  RunStore(const RunStore&) = delete;
  RunStore& operator=(const RunStore&) = delete;

  std::unique_ptr<RunWriter> begin(const NewRun& run);
  /// Stores a run that never starts, with its outcome (a combination of a sweep that cannot run, for example).
  std::int64_t add_finished(const NewRun& run, const telemetry::RunOutcome& outcome);
  /// Stores whole runs and the sweeps (their specs) to which they belong, all of them or none. A run whose uid is there
  /// is left as it is or, see CompleteRun::Update, extended; a deleted one never. Its name and note stay the user's. Of
  /// the sweeps only those are stored that have a new run.
  struct Added {
    std::int64_t id = 0;
    bool added = true;
    bool extended = false; ///< was there, and has more points or another outcome now
  };
  std::vector<Added> add_complete(const std::vector<CompleteRun>& runs, const std::vector<std::string>& sweeps = {});
  std::int64_t add_sweep(const std::string& spec_json);
  /// Replaces a sweep's spec, to which combinations were added. Throws Error (input) if the sweep does not exist.
  void set_sweep(std::int64_t sweep, const std::string& spec_json);
  /// `spec_json` has `device`, `model`, `data` etc.; `result_json` has the answer and its probes.
  std::int64_t add_search(const std::string& spec_json, const std::string& result_json);

  /// Change name and note of any run, running ones and those of other processes included. Throw Error (input) if the
  /// run does not exist.
  void rename(std::int64_t run, const std::string& name);
  void set_note(std::int64_t run, const std::string& text);
  /// Add tags to runs or remove them, of all of the runs or of none. A tag that is there already, or is not there, is
  /// left as it is. Throw Error (input) for a run that does not exist and for a tag that is_tag() refuses.
  void add_tags(const std::vector<std::int64_t>& runs, const std::vector<std::string>& tags);
  void remove_tags(const std::vector<std::int64_t>& runs, const std::vector<std::string>& tags);
  /// Marks runs as deleted or restores them, all of them or none. Only RunReader::deleted() and this function see
  /// deleted runs. Throws Error (input) for a run that does not exist or has not ended.
  void set_deleted(const std::vector<std::int64_t>& runs, bool deleted);
  /// Permanently removes the runs marked as deleted, in parts, so that others can write in between; returns how many.
  /// If it throws, some of them may be removed. The file keeps its size; later runs reuse the space.
  std::int64_t purge_deleted();
  /// Removes all series of these runs, apart from those named in `keep`; the rest of the runs stays. Leaves out runs
  /// that are gone or have not ended. Returns how many series were removed.
  std::int64_t prune(const std::vector<std::int64_t>& runs, const std::vector<std::string>& keep);
  /// Returns the space of removed runs and series to the file system; needs as much free space on the disk as the file
  /// has content.
  void shrink();

  /// Saves a view under its name, in place of an earlier one. Throws Error (input) for a name without a visible
  /// character and for content that is not JSON.
  void save_view(const std::string& name, const std::string& content_json);
  /// Throws Error (input) if there is no view of this name.
  void delete_view(const std::string& name);

  /// Accepts that runs are missing, so that RunReader::check() no longer reports them.
  void accept_missing();

  /// Sends a command to the process that trains the run; returns the command's number, see RunReader::taken(). Throws
  /// Error (input) for an unknown verb, a run that does not exist, and a run that is not running, naming its status.
  std::int64_t send(std::int64_t run, const Command& command);

  /// Waits until everything reported so far is stored; throws Error (failed) if that fails.
  void flush();

  /// State of the store for a status line: numbers of records and events, over all its runs, and why they wait.
  struct Backlog {
    std::uint64_t stored = 0;
    std::uint64_t waiting = 0;
    std::string error;  ///< of the last attempt to store; empty if it succeeded
    std::string notice; ///< what was done after another program replaced the database's files; empty if none did
  };
  Backlog backlog() const;

  const std::filesystem::path& file() const; ///< as it was given

  class Impl;

private:
  friend class SweepQueue;
  std::shared_ptr<Impl> impl_;
};

class RunWriter {
public:
  virtual ~RunWriter() = default; ///< a run without finish() is stored as failed, "abandoned"
  /// Changes only if the database's files were replaced and another run had taken the number.
  virtual std::int64_t id() const = 0;
  virtual const std::string& uid() const = 0;
  virtual telemetry::Sink& sink() = 0;
  /// How many of the records and events that sink() was given the database has. Any thread; never waits.
  virtual std::uint64_t stored() const = 0;
  /// Replaces NewRun::start_json, of a run that learns more of itself; stored with the next transaction. Any thread;
  /// never waits.
  virtual void set_start(const std::string& start_json) = 0;
  /// Writes all waiting entries and the outcome. Call it after the loop has ended; any thread. Throws Error (failed),
  /// or TransientError of that kind, if that fails. It may then be called again, and the store keeps retrying while it
  /// lives.
  virtual void finish(const telemetry::RunOutcome& outcome) = 0;
};

/// Throws Error (input) for a file whose content RunStore would reject. Creates and changes nothing; a file that is
/// missing, empty or of an older format is accepted.
void check_usable(const std::filesystem::path& file);

/// Why an existing database is read-only: permissions of the file, or of its folder, in which SQLite keeps two more
/// files. Empty if it is writable, or if there is no file.
std::string why_read_only(const std::filesystem::path& file);

/// `$BATCHSCOPE_DB`, else `$XDG_DATA_HOME/batchscope/runs.db`, else `~/.local/share/batchscope/runs.db`.
std::filesystem::path default_database();

} // namespace batchscope::store
