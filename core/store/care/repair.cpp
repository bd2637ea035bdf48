#include <optional>

#include <fmt/format.h>
#include <sqlite3.h>

#include "core/base/error.h"
#include "core/store/care/care.h"
#include "core/store/care/detail/rescue.h"
#include "core/store/care/detail/schema.h"
#include "core/store/detail/check.h"
#include "core/store/detail/open_database.h"
#include "core/store/file/detail/database.h"
#include "core/store/file/detail/database_copy.h"
#include "core/store/file/detail/database_files.h"
#include "core/store/file/detail/ledger.h"
#include "core/store/file/detail/row_checks.h"
#include "core/store/file/detail/system_calls.h"
#include "core/store/run_store.h"

namespace batchscope::store {

namespace fs = std::filesystem;

namespace {

/// The damaged database, locked against other writers; nothing if its tables cannot be found. Not opened like others:
/// its first page may be damaged, too.
std::optional<SQLite::Database> open_damaged(const fs::path& file) {
  constexpr int patience_ms = 5000;
  try {
    SQLite::Database old(file.string(), SQLite::OPEN_READWRITE, patience_ms);
    old.exec("PRAGMA trusted_schema = OFF; BEGIN IMMEDIATE");
    detail::add_check_function(old);
    if (!detail::checked_tables(old).empty())
      return old;
  } catch (const SQLite::Exception& exception) {
    if (!detail::is_damage(exception))
      throw;
  }
  return std::nullopt;
}

void forget(const fs::path& backup) {
  std::error_code none;
  fs::remove(backup, none);
  fs::remove(detail::log_of(backup), none);
}

/// With the log, which may hold what the file does not have yet. Nothing is left of a copy that failed.
void copy_damaged(const fs::path& file, const fs::path& backup) {
  try {
    fs::copy_file(file, backup);
    if (fs::exists(detail::log_of(file)) && fs::file_size(detail::log_of(file)) > 0)
      fs::copy_file(detail::log_of(file), detail::log_of(backup));
    detail::sync_to_disk(backup);
  } catch (const fs::filesystem_error& error) {
    forget(backup);
    throw Error(Error::Kind::failed,
                fmt::format("{}: cannot be written ({}); free some space, or check the disk, and try again",
                            backup.string(), error.code().message()));
  }
}

/// Removes a file that was not finished.
class Unfinished {
public:
  explicit Unfinished(fs::path file) : file_(std::move(file)) {}
  ~Unfinished() {
    std::error_code none;
    for (const char* ending : {"", "-wal", "-shm", "-ledger"})
      fs::remove(file_.string() + ending, none);
  }
  Unfinished(const Unfinished&) = delete;
  Unfinished& operator=(const Unfinished&) = delete;

private:
  const fs::path file_;
};

/// Writes the new database; returns what is lost.
std::vector<std::string> write_fresh(SQLite::Database& old, const fs::path& file) {
  SQLite::Database fresh = detail::open_for_writing(file);
  fresh.exec("PRAGMA synchronous = OFF"); // it is written to the disk when it is complete
  auto lost = detail::rescue(old, fresh);
  if (const auto damage = detail::check(fresh); !damage.empty())
    throw Error(Error::Kind::failed, fmt::format("{}: could not be repaired: {}", file.string(), damage.front()));
  return lost;
}

/// The same; nothing if a query finds no table or column that should be there.
std::optional<std::vector<std::string>> write_fresh_unless_schema_is_damaged(SQLite::Database& old,
                                                                             const fs::path& file) {
  try {
    return write_fresh(old, file);
  } catch (const SQLite::Exception& exception) {
    if (exception.getErrorCode() != SQLITE_ERROR && !detail::is_damage(exception))
      throw;
  }
  const Unfinished what_is_there(file);
  return std::nullopt;
}

/// The same where the schema is damaged, from a copy that gets the schema of a new database.
std::vector<std::string> write_fresh_with_new_schema(const fs::path& backup, const fs::path& file,
                                                     const fs::path& fresh) {
  const fs::path copy = detail::free_name(file.string() + ".renewed");
  const fs::path scratch = detail::free_name(file.string() + ".new");
  const Unfinished copy_remover(copy), scratch_remover(scratch), before_remover(scratch.string() + "-before");
  fs::copy_file(backup, copy);
  if (fs::exists(detail::log_of(backup)))
    fs::copy_file(detail::log_of(backup), detail::log_of(copy));
  auto old = detail::renew_schema(copy, scratch) ? open_damaged(copy) : std::nullopt;
  if (!old)
    throw Error(Error::Kind::failed, fmt::format("{}: nothing in it can be read; restore a backup", file.string()));
  auto lost = write_fresh(*old, fresh);
  lost.insert(lost.begin(), "the schema; that of a new database took its place");
  detail::close_without_checkpoint(*old);
  return lost;
}

/// Runs that are missing, as the ledger says, are lost now.
void take_stock(const fs::path& file, RepairReport& report) {
  SQLite::Database database = detail::open_for_reading(file);
  auto missing = detail::missing_runs(database, file);
  if (!missing.empty())
    missing.pop_back(); // what else could be done
  report.lost.insert(report.lost.end(), missing.begin(), missing.end());
  const auto runs = detail::stored_runs(database);
  report.runs = static_cast<std::int64_t>(runs.size());
  detail::Ledger(file, database.execAndGet("SELECT uid FROM identity").getString()).replace(runs);
}

} // namespace

RepairReport repair(const fs::path& file) {
  if (!fs::is_regular_file(file))
    throw input_error(file.string() + ": no such run database");
  if (const std::string why = why_read_only(file); !why.empty())
    throw input_error(why);
  detail::replace_system_calls();
  return detail::guarded(file, [&] {
    RepairReport report;
    std::optional<SQLite::Database> old = open_damaged(file);
    report.backup = detail::free_name(file.string() + ".damaged");
    copy_damaged(file, report.backup);
    const fs::path unfinished = detail::free_name(file.string() + ".repairing");
    const Unfinished remover(unfinished);
    try {
      const auto lost = old ? write_fresh_unless_schema_is_damaged(*old, unfinished) : std::nullopt;
      report.lost = lost ? *lost : write_fresh_with_new_schema(report.backup, file, unfinished);
    } catch (const std::exception&) {
      forget(report.backup); // the file itself is as it was
      throw;
    }
    fs::permissions(unfinished, fs::status(file).permissions());
    detail::sync_to_disk(unfinished);
    if (old)
      detail::close_without_checkpoint(*old);
    // The old log would be taken for the new file's; what it holds is in the backup and in the new file.
    std::error_code none;
    fs::remove(detail::log_of(file), none);
    fs::remove(detail::index_of(file), none);
    fs::rename(unfinished, file);
    detail::sync_to_disk(file);
    take_stock(file, report);
    return report;
  });
}

RepairReport repair_copy(const fs::path& file, const fs::path& target) {
  if (!fs::is_regular_file(file))
    throw input_error(file.string() + ": no such run database");
  if (fs::exists(fs::symlink_status(target)))
    throw input_error(target.string() + ": is there already; choose a new name");
  detail::replace_system_calls();
  detail::guarded(file, [&] {
    // Locked, so that no program writes meanwhile; one that can only be read is written by none.
    std::optional<SQLite::Database> old = why_read_only(file).empty() ? open_damaged(file) : std::nullopt;
    copy_damaged(file, target);
    if (old)
      detail::close_without_checkpoint(*old);
  });
  try {
    fs::permissions(target, fs::perms::owner_write, fs::perm_options::add);
    RepairReport report = repair(target);
    forget(report.backup);
    report.backup.clear();
    return report;
  } catch (const std::exception&) {
    const Unfinished remover(target);
    throw;
  }
}

} // namespace batchscope::store
