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
#include <variant>
#include <vector>

#include "core/base/error.h"
#include "core/telemetry/outcome.h"
#include "core/telemetry/record.h"

namespace batchscope::store {

/// An error of the store that a retry may solve: another program has the file locked, or the disk is full.
class TransientError : public Error {
public:
  using Error::Error;
};

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

/// What is stored when a run begins.
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

/// Settings of a run that lists show, as far as its spec has them. `model`: of the user's own program, its command.
struct RunSettings {
  std::optional<std::string> model, data, schedule, optimizer, device;
  /// With the optimizer's default filled in; nothing for a run with that default which an earlier version stored.
  std::optional<double> learning_rate;
  std::optional<std::int64_t> seed;
  bool program = false; ///< a training program of the user's own, whose command is `model`
};

/// A value of a list that a run may lack, and that is a number in some runs and a text in others.
using ListValue = std::variant<std::monostate, std::int64_t, double, std::string>;

/// One row of the run table.
struct RunRow {
  std::int64_t id = 0;
  std::string uid; ///< 32 hexadecimal digits; the same in every database that holds a copy of the run
  std::string name;
  std::string started; ///< UTC, ISO 8601
  std::optional<std::int64_t> sweep;
  std::string note;              ///< the user's; empty for none
  std::vector<std::string> tags; ///< the user's, in ascending order, each once
  std::int64_t workers = 1;      ///< most runs of its sweep that trained at one time, this one included
  RunSettings settings;
  telemetry::RunOutcome outcome; ///< of a running or interrupted run: as stored so far
  std::vector<ListValue> more{}; ///< what a list has read besides; RunList::columns know it
};

struct Point {
  std::int64_t step = 0;
  double value = 0;
};

using PointVisitor = std::function<void(const Point&)>;

/// Summary of a series, known without reading its points.
struct SeriesSummary {
  std::string name;
  std::int64_t count = 0;
  std::int64_t last_step = 0;
  double last = 0;
  double min = 0; ///< NaN ignored, as in max; NaN if there is no other value
  double max = 0;
};

/// A search as it was stored.
struct StoredSearch {
  std::int64_t id = 0;
  std::string created;     ///< UTC, ISO 8601
  std::string spec_json;   ///< the run spec that was searched
  std::string result_json; ///< answer and probes
};

/// An arrangement of runs that the user has saved under a name.
struct SavedView {
  std::string name;
  std::string created;      ///< UTC, ISO 8601
  std::string content_json; ///< of the program that shows it; any JSON

  bool operator==(const SavedView&) const = default;
};

/// A sweep as it was stored.
struct StoredSweep {
  std::int64_t id = 0;
  std::string created;   ///< UTC, ISO 8601
  std::string spec_json; ///< see sweep::SweepSpec
};

/// Writes one run. `sink()` is for the training loop's thread: it appends to a queue and returns. The store's writer
/// thread drains all queues every quarter of a second, in one transaction.
class RunWriter;

struct RunList;

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
  /// What becomes of a run that is there under this uid and has other points.
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

/// How far a caller has read the list of runs; starts empty. See RunReader::changes().
struct ListCursor {
  std::optional<std::int64_t> change; ///< change counter of the database at that time
  std::int64_t generation = 0;        ///< of the files that the reader has open
  std::int64_t removed = 0;           ///< runs that were purged by then
  std::set<std::int64_t> known;
  std::map<std::int64_t, telemetry::RunStatus> open; ///< status of runs that have not ended
};

/// The changes of the list of runs.
struct ListChanges {
  bool all = false;                  ///< `rows` is the whole list
  std::vector<RunRow> rows;          ///< new and changed runs, oldest first
  std::vector<std::int64_t> removed; ///< runs deleted since, ascending
  std::size_t rows_read = 0;         ///< number of rows read

  bool empty() const { return !all && rows.empty() && removed.empty(); }
};

/// Reads a run database, also while other processes write it. Does not create a database: throws Error (input) if there
/// is none, or if the file is something else, newer or empty. One thread at a time. A run whose process has ended reads
/// as `interrupted`.
class RunReader {
public:
  explicit RunReader(const std::filesystem::path& file);
  ~RunReader();
  RunReader(RunReader&&) noexcept;
  RunReader& operator=(RunReader&&) noexcept;

  /// Everything that `read` reads through this reader is from one snapshot. Meanwhile the WAL cannot shrink, so `read`
  /// must not wait for the user.
  void at_one_moment(const std::function<void()>& read) const;

  /// All runs, or those that match `where` (grammar: see list_filter.h), oldest first. The names of fields in `where`
  /// are those of table().
  std::vector<RunRow> list(const std::string& where = {}) const;
  /// A list with columns of choice, by their names: a field of run_fields() (or its short name); a setting from the
  /// runs' specs, `dropout` or `setting.dropout`, where a field has the same name only the latter; `SERIES.last`,
  /// `SERIES.min` or `SERIES.max` of a series. Throws Error (input) for a name that no run has. `deleted`: lists the
  /// runs marked as deleted instead.
  RunList table(const std::string& where, const std::vector<std::string>& columns, bool deleted = false) const;
  /// The changes of the list of all runs since the last call with `cursor`, which is advanced. The cost depends on the
  /// number of changes, not of runs; in addition it checks whether the processes of running and queued runs still
  /// exist.
  ListChanges changes(ListCursor& cursor) const;
  std::vector<RunRow> deleted() const; ///< runs marked as deleted; all other functions treat them as missing
  RunRow run(std::int64_t id) const;   ///< throws Error (input) if it does not exist
  /// Those of the runs that exist, in the order of `ids`; some may have been deleted meanwhile.
  std::vector<RunRow> present(const std::vector<std::int64_t>& ids) const;
  std::string spec_json(std::int64_t id) const;
  std::string settings_key(std::int64_t id) const; ///< see WaitingRun; empty if none is stored
  std::string start_json(std::int64_t id) const;
  std::string environment_json(std::int64_t id) const; ///< `{}` for a run of which it is not known
  std::vector<telemetry::Event> events(std::int64_t id) const;
  std::vector<std::string> series_names(std::int64_t id) const;
  std::vector<SeriesSummary> summaries(std::int64_t id) const; ///< in the order of series_names()
  /// Calls `visit` for all points of a series in order. Throws as series() does, possibly after some points.
  void visit_series(std::int64_t id, const std::string& name, const PointVisitor& visit) const;
  /// All points of a series in order; throws Error (input) naming the existing series if there is none of this name.
  std::vector<Point> series(std::int64_t id, const std::string& name) const;
  std::vector<std::int64_t> runs_of_sweep(std::int64_t sweep) const; ///< throws Error (input) if it does not exist
  /// Those that wait to be made, in the order in which programs take them; see SweepQueue.
  std::vector<std::int64_t> waiting_runs(std::int64_t sweep) const;
  std::string sweep_json(std::int64_t id) const;  ///< the sweep's spec
  std::vector<StoredSweep> sweeps() const;        ///< all of them, oldest first
  std::string search_json(std::int64_t id) const; ///< the search's result
  /// Searches with a number above `after`, oldest first; if there are more than `most`, the newest ones.
  std::vector<StoredSearch> searches(std::int64_t after = 0, std::int64_t most = 1000) const;
  std::vector<SavedView> views() const; ///< in the order of their names

  /// What RunStore::prune() would remove.
  struct Prunable {
    std::vector<std::int64_t> runs; ///< of those given, the ones that have ended and have such series
    std::int64_t series = 0;
    std::uint64_t bytes = 0; ///< of their points, about
  };
  Prunable prunable(const std::vector<std::int64_t>& runs, const std::vector<std::string>& keep) const;
  /// Bytes of the file that hold nothing: RunStore::shrink() returns them.
  std::uint64_t free_bytes() const;

  /// Whether the process that trains the run has taken a command; throws Error (input) if it does not exist.
  bool taken(std::int64_t command) const;

  /// Changes when another connection has changed the database; equal numbers mean no change. Cheap.
  std::int64_t version() const;

  /// Describes all damage and missing runs, one line each; empty if there are none. A run or point is missing if the
  /// ledger (FILE-ledger) says that it was stored, and it is neither in the database nor purged.
  std::vector<std::string> check() const;
  /// The part of check() that is fast enough for every opening: what is missing, and, if a program ended abruptly while
  /// it wrote to the file, whether the file is damaged.
  std::vector<std::string> quick_check() const;
  /// What was done after another program replaced the database's files while this reader was open; empty if none did.
  std::string notice() const;

  class Impl;

private:
  std::unique_ptr<Impl> impl_;
};

/// Whether a text can be a tag: one line without spaces at its ends, and not a whole number, which names a run.
bool is_tag(const std::string& text);

/// Throws Error (input) for a file whose content RunStore would reject. Creates and changes nothing; a file that is
/// missing, empty or of an older format is accepted.
void check_usable(const std::filesystem::path& file);

/// Writes a copy of the database to `target`, of one moment and complete, also while other programs write to it. Throws
/// Error: input for a `target` that is there (unless `force`), that is the database itself, a folder, in use, or cannot
/// be written; failed if the disk is full or the database is damaged. Nothing is left of a copy that failed.
void back_up(const std::filesystem::path& database, const std::filesystem::path& target, bool force);

/// What repair() did.
struct RepairReport {
  std::filesystem::path backup;  ///< the damaged file, as it was; its log, if it had one, is beside it
  std::int64_t runs = 0;         ///< in the repaired database
  std::vector<std::string> lost; ///< what could not be saved, one line each
};

/// Makes a damaged database sound: copies the file, then writes everything in it that is whole into a new database,
/// which takes its place. Of a run with a damaged text or number the rest is kept. Throws Error: input if there is no
/// such file, another program has it locked, or its folder cannot be written; failed if nothing in it can be read or
/// the disk is full. The file is then as it was.
RepairReport repair(const std::filesystem::path& database);

/// What merge() did; runs by their numbers in the other database and in this one.
struct MergeReport {
  std::vector<std::pair<std::int64_t, std::int64_t>> added;
  std::vector<std::pair<std::int64_t, std::int64_t>> completed; ///< were there with less
  std::size_t known = 0;                                        ///< were there
};

/// Adds the runs of another database, with their sweeps and searches, to `database`, which is made if missing; all of
/// them or none. Runs that are there (by their uid) are left as they are, unless the other database has more of them;
/// names, notes, tags and deletions here are kept. Waiting and deleted runs are left out; runs that train there are
/// `interrupted` here until they are merged again. `other` is not changed, whatever its format. Throws Error: input for
/// files that cannot be used, failed if `other` is damaged or the disk is full; TransientError as RunStore.
MergeReport merge(const std::filesystem::path& database, const std::filesystem::path& other);

/// Why an existing database is read-only: permissions of the file, or of its folder, in which SQLite keeps two more
/// files. Empty if it is writable, or if there is no file.
std::string why_read_only(const std::filesystem::path& file);

/// `$BATCHSCOPE_DB`, else `$XDG_DATA_HOME/batchscope/runs.db`, else `~/.local/share/batchscope/runs.db`.
std::filesystem::path default_database();

} // namespace batchscope::store
