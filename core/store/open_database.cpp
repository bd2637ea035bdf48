#include "core/store/detail/open_database.h"

#include <algorithm>
#include <chrono>
#include <map>

#include <fmt/format.h>
#include <sqlite3.h>

#include "core/store/detail/salvage.h"
#include "core/store/file/detail/database.h"

namespace batchscope::store::detail {

namespace fs = std::filesystem;

namespace {

/// Checkpoints a full WAL as SQLite's own hook does, unless the files were replaced meanwhile.
int checkpoint_unless_replaced(void* shared, sqlite3* database, const char* name, int pages) {
  constexpr int full_pages = 1000; // SQLite's default
  if (pages >= full_pages && !static_cast<OpenDatabase*>(shared)->replaced())
    sqlite3_wal_checkpoint_v2(database, name, SQLITE_CHECKPOINT_PASSIVE, nullptr, nullptr);
  return SQLITE_OK;
}

bool holds_something(const fs::path& file) {
  std::error_code error;
  return fs::file_size(file, error) > 0 && !error;
}

} // namespace

void close_without_checkpoint(SQLite::Database& database) {
  sqlite3_db_config(database.getHandle(), SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, 1, nullptr);
}

std::shared_ptr<OpenDatabase> OpenDatabase::of(const fs::path& file) {
  static std::mutex mutex;
  static std::map<fs::path, std::weak_ptr<OpenDatabase>> all; // guarded by mutex
  std::error_code unknown;                                    // a path that cannot be resolved is used as it is
  fs::path name = fs::weakly_canonical(file, unknown);
  if (unknown)
    name = file;
  const std::lock_guard lock(mutex);
  std::erase_if(all, [](const auto& entry) { return entry.second.expired(); });
  std::weak_ptr<OpenDatabase>& entry = all[name];
  auto shared = entry.lock();
  if (!shared) {
    shared = std::make_shared<OpenDatabase>(name);
    entry = shared;
  }
  return shared;
}

void OpenDatabase::add(Connection& connection) {
  const std::lock_guard lock(mutex_);
  connections_.push_back(&connection);
}

void OpenDatabase::remove(Connection& connection) {
  const std::lock_guard lock(mutex_);
  // A closing connection may be the last one that can read data of the old files.
  if (connection.database_ && connection.access_ == Connection::Access::write && replaced()) {
    try {
      exchange();
    } catch (const std::exception&) {
      // Reported already by every attempt to write; nobody is left to report it to.
    }
  }
  const std::lock_guard use(connection.mutex_);
  if (connection.database_) {
    connection.on_drop_();
    if (replaced())
      close_without_checkpoint(*connection.database_);
    close(connection);
  }
  std::erase(connections_, &connection);
  if (!any_open())
    forget_files();
}

void OpenDatabase::forget_files() {
  const std::lock_guard lock(files_mutex_);
  files_.reset();
  opened_.reset();
}

void OpenDatabase::make_ready(Connection& connection) {
  const std::lock_guard lock(mutex_);
  do {
    if (replaced())
      exchange();
    write_saved_views();
  } while (!is_open(connection));
}

bool OpenDatabase::replaced() const {
  const std::lock_guard lock(files_mutex_);
  if (!files_)
    return false;
  const DatabaseFiles now = files_of(file_);
  return is_replaced(*files_, now) && (now.database != FileIdentity{} || writers_ > 0);
}

std::string OpenDatabase::notice() const {
  const std::lock_guard lock(files_mutex_);
  return notice_;
}

bool OpenDatabase::any_open() const {
  return std::any_of(connections_.begin(), connections_.end(),
                     [](const Connection* each) { return each->database_.has_value(); });
}

// Opens it if it is closed; false if the files were replaced just now, so that it has others open than the rest.
bool OpenDatabase::is_open(Connection& connection) {
  const std::lock_guard use(connection.mutex_);
  if (connection.database_)
    return true;
  SQLite::Database database = connection.open_();
  database.execAndGet("SELECT count(*) FROM sqlite_schema"); // makes SQLite open the WAL
  {
    const std::lock_guard lock(files_mutex_);
    const DatabaseFiles opened = opened_.get();
    if (!files_)
      files_ = opened;
    if (is_replaced(*files_, opened)) {
      close_without_checkpoint(database);
      return false;
    }
  }
  if (connection.access_ == Connection::Access::write) {
    sqlite3_wal_hook(database.getHandle(), checkpoint_unless_replaced, this);
    ++writers_;
  }
  connection.database_.emplace(std::move(database));
  ++connection.generation_;
  return true;
}

void OpenDatabase::close(Connection& connection) {
  if (connection.database_ && connection.access_ == Connection::Access::write)
    --writers_;
  connection.database_.reset();
}

// Holding the connections' own locks ensures that none is in use.
void OpenDatabase::exchange() {
  std::vector<std::unique_lock<std::recursive_mutex>> uses;
  for (Connection* each : connections_)
    uses.emplace_back(each->mutex_);
  const DatabaseFiles opened = *files_;
  const DatabaseFiles now = files_of(file_);
  // Another file was moved into the database's place, but the old WAL is still beside it: SQLite would take it for the
  // new file's.
  const bool stale_log = opened.database != now.database && opened.log != FileIdentity{} && opened.log == now.log;
  // A user who put another database in place knows about the old one; only a process that writes has data of its own in
  // it, or in its WAL.
  const bool of_use = writers_ > 0 || opened.database == now.database || (stale_log && holds_something(log_of(file_)));
  if (of_use && (writers_ > 0 || why_read_only(file_).empty()))
    save_old_view();
  drop_all();
  if (stale_log)
    put_log_aside();
  write_saved_views();
}

// Removes the WAL if its content was saved; else keeps it under another name for the user.
void OpenDatabase::put_log_aside() {
  const fs::path log = log_of(file_);
  std::error_code none; // errors mean that this process cannot write the folder
  if (!saved_.empty() || !holds_something(log))
    fs::remove(log, none);
  else
    fs::rename(log, log.string() + ".stale", none);
  fs::remove(index_of(file_), none);
}

void OpenDatabase::save_old_view() {
  const auto open = std::find_if(connections_.begin(), connections_.end(),
                                 [](const Connection* each) { return each->database_.has_value(); });
  try {
    saved_.push_back(save_view(*(*open)->database_, file_));
  } catch (const SQLite::Exception& exception) {
    if (is_transient(exception))
      throw TransientError(Error::Kind::failed,
                           fmt::format("{}: its files were replaced by another program, and the disk is too full to "
                                       "save the runs of the old files; free some space",
                                       file_.string()));
    say(fmt::format("{}: its files were replaced by another program, and the old files can no longer be read ({}); "
                    "`batchscope-cli check` shows whether runs are missing",
                    file_.string(), exception.what()));
  }
}

void OpenDatabase::drop_all() {
  for (Connection* each : connections_) {
    if (!each->database_)
      continue;
    each->on_drop_();
    close_without_checkpoint(*each->database_);
    close(*each);
  }
  forget_files();
}

void OpenDatabase::write_saved_views() {
  while (!saved_.empty()) {
    const fs::path saved = saved_.back();
    try {
      guarded(file_, [&] { write_saved(saved); });
    } catch (const TransientError&) {
      throw; // the next use retries
    } catch (const Error& error) {
      std::erase(saved_, saved);
      say(fmt::format(
          "{}; its files were replaced by another program, and the contents of the old files are kept in {}",
          error.what(), saved.string()));
    }
  }
}

void OpenDatabase::write_saved(const fs::path& saved) {
  SQLite::Database database = open_for_writing(file_);
  // They may be replaced again in the meantime: then save what this connection reads, too.
  const auto save_again = [&] {
    if (!is_replaced(opened_.get(), files_of(file_)))
      return;
    close_without_checkpoint(database);
    saved_.push_back(save_view(database, file_));
  };
  try {
    const MergedRuns done = write_view(saved, database);
    save_again();
    std::erase(saved_, saved);
    if (done.left == 0)
      fs::remove(saved);
    say(to_string(done, file_, saved));
  } catch (const SQLite::Exception&) {
    save_again();
    throw;
  }
}

void OpenDatabase::say(const std::string& notice) {
  const std::lock_guard lock(files_mutex_);
  notice_ = notice;
}

} // namespace batchscope::store::detail
