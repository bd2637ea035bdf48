#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <string>
#include <utility>
#include <vector>

// Copies, merges and repairs of whole databases. See also RunReader::check().
namespace batchscope::store {

/// Writes a copy of the database to `target`, of one moment and complete, also while other programs write to it. Throws
/// Error: input for a `target` that is there (unless `force`), that is the database itself, a folder, in use, or cannot
/// be written; failed if the disk is full or the database is damaged. Nothing is left of a copy that failed.
void back_up(const std::filesystem::path& database, const std::filesystem::path& target, bool force);

/// Result of repair().
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

/// The same into a new file, for a database that stays as it is, also one that cannot be written; the report has no
/// backup. Throws Error (input) also for a `target` that is there.
RepairReport repair_copy(const std::filesystem::path& database, const std::filesystem::path& target);

/// Result of merge(); runs by their numbers in the other database and in this one.
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

} // namespace batchscope::store
