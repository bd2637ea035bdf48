#include <cerrno>
#include <csignal>
#include <cstdlib>

#include <unistd.h>

#include <fmt/format.h>

#include "core/base/error.h"
#include "core/base/folder.h"
#include "core/store/care/care.h"
#include "core/store/detail/check.h"
#include "core/store/detail/run_merge.h"
#include "core/store/file/detail/database.h"
#include "core/store/file/detail/database_copy.h"
#include "core/store/file/detail/database_files.h"
#include "core/store/file/detail/ledger.h"
#include "core/store/file/detail/sql.h"
#include "core/store/run_store.h"

namespace batchscope::store {

namespace fs = std::filesystem;

namespace {

/// A folder beside the database for the time of a merge. Those of processes that were killed are removed.
class WorkFolder {
public:
  explicit WorkFolder(const fs::path& database) : path_(fmt::format("{}.merging-{}", database.string(), ::getpid())) {
    const std::string beginning = database.filename().string() + ".merging-";
    for (const auto& entry : fs::directory_iterator(folder_of(database)))
      if (const std::string name = entry.path().filename().string();
          name.starts_with(beginning) && is_of_nobody(name.substr(beginning.size())))
        fs::remove_all(entry.path());
    fs::create_directory(path_);
  }
  ~WorkFolder() {
    std::error_code none;
    fs::remove_all(path_, none);
  }
  WorkFolder(const WorkFolder&) = delete;
  WorkFolder& operator=(const WorkFolder&) = delete;

  fs::path file(const char* name) const { return path_ / name; }

private:
  static bool is_of_nobody(const std::string& process) {
    const auto number = static_cast<pid_t>(std::atoi(process.c_str()));
    return number == ::getpid() || (number > 0 && ::kill(number, 0) != 0 && errno == ESRCH);
  }

  const fs::path path_;
};

/// A copy is read in place of `other`: it is of one moment, and of the present format.
void copy_other(const fs::path& other, const fs::path& copy) {
  detail::guarded(copy, [&] {
    SQLite::Database reading = detail::open_of_any_format(other);
    reading.exec("PRAGMA query_only = OFF"); // which would refuse to write a copy, too
    try {
      detail::copy_database(reading, copy);
    } catch (const SQLite::Exception& exception) {
      if (detail::is_damage(exception))
        throw detail::translated(exception, other);
      throw;
    }
  });
  SQLite::Database database = detail::open_for_writing(copy);
  const auto damage = detail::guarded(copy, [&] { return detail::check(database); });
  if (!damage.empty())
    throw Error(Error::Kind::failed, fmt::format("{}: damaged ({}); `batchscope-cli --db {} check --repair` saves what "
                                                 "is whole",
                                                 other.string(), damage.front(), other.string()));
}

std::vector<std::pair<std::int64_t, std::int64_t>> numbers(const std::vector<detail::MergedRuns::Run>& runs) {
  std::vector<std::pair<std::int64_t, std::int64_t>> numbers;
  for (const auto& run : runs)
    numbers.emplace_back(run.before, run.now);
  return numbers;
}

/// The ledger takes part, so that a loss of the runs is noticed.
void append_to_ledger(SQLite::Database& database, const fs::path& file, const detail::MergedRuns& merged) {
  std::vector<detail::Ledger::Run> lines;
  for (const auto* runs : {&merged.added, &merged.completed})
    for (const auto& run : *runs)
      lines.push_back({run.uid, run.now,
                       detail::find_integer(database, "SELECT sum(n) FROM series WHERE run = ?", run.now).value_or(0)});
  const detail::Ledger ledger(file, database.execAndGet("SELECT uid FROM identity").getString());
  if (ledger.exists())
    ledger.stored(lines);
}

} // namespace

MergeReport merge(const fs::path& file, const fs::path& other) {
  if (!other.empty() && detail::identity_of(file) == detail::identity_of(other) && fs::exists(file))
    throw input_error(fmt::format("{} and {} are the same database", file.string(), other.string()));
  detail::open_of_any_format(other); // before anything is made
  check_usable(file);
  SQLite::Database database = detail::open_for_writing(file);
  return detail::guarded(file, [&] {
    const WorkFolder folder(file);
    const fs::path copy = folder.file("other.db");
    copy_other(other, copy);
    detail::execute(database, "ATTACH ? AS old", copy.string());
    detail::set_durability(database, detail::Durability::status);
    SQLite::Transaction transaction(database, SQLite::TransactionBehavior::IMMEDIATE);
    const detail::MergedRuns merged = detail::merge_runs(database, detail::MergeKind::other);
    transaction.commit();
    append_to_ledger(database, file, merged);
    database.exec("DETACH old");
    return MergeReport{numbers(merged.added), numbers(merged.completed), merged.known.size()};
  });
}

} // namespace batchscope::store
