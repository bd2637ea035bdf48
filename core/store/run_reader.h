#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "core/store/run_row.h"
#include "core/telemetry/record.h"

namespace batchscope::store {

struct RunList;

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
  /// Whether the run's schedule or shares were changed while it trained.
  bool was_edited(std::int64_t id) const;
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

  /// Series that RunStore::prune() would remove.
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
  /// The part of check() that is fast enough for every opening: what is missing, and whether SQLite finds the file
  /// damaged (it reads all of it). Ends early, with nothing found, once `stop` says so, which another thread asks;
  /// empty: never.
  std::vector<std::string> quick_check(const std::function<bool()>& stop = {}) const;
  /// Notice of how a replacement of the database's files by another program was handled, if one was made while this
  /// reader was open; else empty.
  std::string notice() const;

  class Impl;

private:
  std::unique_ptr<Impl> impl_;
};

} // namespace batchscope::store
