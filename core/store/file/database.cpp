#include "core/store/file/detail/database.h"

#include <array>
#include <cstring>
#include <thread>

#include <fcntl.h>
#include <sqlite3.h>
#include <unistd.h>

#include <fmt/format.h>

#include "core/base/folder.h"
#include "core/store/file/detail/database_files.h"
#include "core/store/file/detail/migrations.h"
#include "core/store/file/detail/row_checks.h"
#include "core/store/file/detail/system_calls.h"

namespace batchscope::store::detail {

namespace fs = std::filesystem;

namespace {

// For the effective user, whom the kernel checks when the file is opened.
bool may(const fs::path& path, int mode) {
  return ::faccessat(AT_FDCWD, path.c_str(), mode, AT_EACCESS) == 0;
}

bool is_empty_or_missing(const fs::path& file) {
  std::error_code error;
  const auto size = fs::file_size(file, error);
  return error || size == 0;
}

bool has_journal(const fs::path& file) {
  fs::path journal = file;
  journal += "-journal";
  return !is_empty_or_missing(journal);
}

// A `file:` URI with all special characters escaped.
std::string immutable_uri(const fs::path& file) {
  std::string uri = "file:";
  for (const char c : fs::absolute(file).string()) {
    if (c == '%' || c == '?' || c == '#')
      uri += c == '%' ? "%25" : c == '?' ? "%3f" : "%23";
    else
      uri += c;
  }
  return uri + "?immutable=1";
}

// Reads the first bytes of a file; false if it has fewer. Goes through SQLite like all access to a database: without
// open file description locks, closing another descriptor would drop the locks of this process.
template <std::size_t size> bool read_start(const fs::path& file, std::array<unsigned char, size>& bytes) {
  SQLite::Database unlocked(immutable_uri(file), SQLite::OPEN_READONLY | SQLite::OPEN_URI);
  sqlite3_file* handle = nullptr;
  sqlite3_file_control(unlocked.getHandle(), "main", SQLITE_FCNTL_FILE_POINTER, &handle);
  return handle && handle->pMethods && handle->pMethods->xRead(handle, bytes.data(), size, 0) == SQLITE_OK;
}

/// Kind of a file, from its first bytes.
enum class Start { ours, of_another_program, no_database, being_made };

// Reads the first bytes before SQLite opens the database: SQLite would create files beside a foreign database.
Start look_at_start(const fs::path& file) {
  constexpr std::string_view magic("SQLite format 3\0", 16);
  constexpr std::string_view nothing("\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0", 16);
  constexpr std::size_t owner_offset = 68; // big-endian, as all numbers of the header
  std::array<unsigned char, 100> header{};
  const bool has_header = read_start(file, header);
  const auto begins_with = [&](std::string_view text) {
    return has_header && std::memcmp(header.data(), text.data(), text.size()) == 0;
  };
  std::uint32_t owner = 0;
  for (std::size_t i = 0; i < 4; ++i)
    owner = owner << 8 | header[owner_offset + i];
  // Also if the process that created it was killed: from the journal that it left, SQLite makes the file empty again.
  if (has_journal(file) && (begins_with(nothing) || (begins_with(magic) && owner == 0)))
    return Start::being_made;
  if (!begins_with(magic))
    return is_empty_or_missing(file) ? Start::being_made : Start::no_database;
  return owner == static_cast<std::uint32_t>(application_id) ? Start::ours : Start::of_another_program;
}

void check_header(const fs::path& file) {
  // Read without a lock, the bytes may be from the moment at which another process creates the database.
  constexpr int looks = 3;
  constexpr std::chrono::milliseconds between{20};
  Start start = look_at_start(file);
  for (int look = 1; look < looks && (start == Start::of_another_program || start == Start::no_database); ++look) {
    std::this_thread::sleep_for(between);
    start = look_at_start(file);
  }
  if (start == Start::no_database)
    throw input_error(file.string() + ": not a BatchScope database; use another file");
  if (start == Start::of_another_program)
    throw input_error(file.string() + ": not a BatchScope database (it belongs to another program)");
}

void check_path(const fs::path& file) {
  if (file.empty())
    throw input_error("the run database: the path is empty; give a file such as runs.db");
  if (fs::is_directory(file))
    throw input_error(file.string() + ": is a folder; give a file in it, such as " + (file / "runs.db").string());
  if (fs::exists(file) && !fs::is_regular_file(file))
    throw input_error(file.string() + ": not a regular file; give another one as the run database");
}

void check_writable(const fs::path& file) {
  if (!may(folder_of(file), W_OK | X_OK))
    throw input_error(folder_of(file).string() + ": the run database's folder cannot be written; change its "
                                                 "permissions, or give a file elsewhere");
  if (fs::exists(file) && !may(file, R_OK | W_OK))
    throw input_error(file.string() + ": cannot be written; change its permissions, or use another file");
}

void set_up(SQLite::Database& database) {
  database.exec("PRAGMA trusted_schema = OFF; PRAGMA cell_size_check = ON; PRAGMA foreign_keys = ON");
}

// SQLite does not wait for the exclusive lock that switching to WAL needs.
bool try_wal(SQLite::Database& database, std::chrono::milliseconds patience) {
  const auto end = std::chrono::steady_clock::now() + patience;
  while (true) {
    try {
      return database.execAndGet("PRAGMA journal_mode = WAL").getString() == "wal";
    } catch (const SQLite::Exception& exception) {
      if (exception.getErrorCode() != SQLITE_BUSY || std::chrono::steady_clock::now() > end)
        throw;
      std::this_thread::sleep_for(std::chrono::milliseconds(10));
    }
  }
}

bool has_unread_writes(const fs::path& file) {
  return !is_empty_or_missing(log_of(file));
}

SQLite::Database open_existing(const fs::path& file) {
  constexpr int patience_ms = 5000;
  try {
    // Not read-only: in WAL mode a reader creates two files beside the database, too, and only a connection that may
    // write removes them. query_only prevents all other writes.
    SQLite::Database database(file.string(), SQLite::OPEN_READWRITE, patience_ms);
    database.exec("PRAGMA query_only = ON");
    database.execAndGet("SELECT count(*) FROM sqlite_schema");
    return database;
  } catch (const SQLite::Exception& exception) {
    // If it may not create those files, and no data are left in a WAL, nobody is writing and the file can be read as it
    // is.
    const int code = exception.getErrorCode();
    if (may(folder_of(file), W_OK) || (code != SQLITE_CANTOPEN && code != SQLITE_READONLY))
      throw;
    if (has_unread_writes(file))
      throw input_error(file.string() + ": its folder is not writable, and " + file.filename().string() +
                        "-wal has changes that are not merged into it yet; copy both to a writable folder and open "
                        "them there");
    return {immutable_uri(file), SQLite::OPEN_READONLY | SQLite::OPEN_URI, patience_ms};
  }
}

// Opens an existing file that is not empty.
SQLite::Database open_stored(const fs::path& file) {
  if (!may(file, R_OK))
    throw input_error(file.string() + ": cannot be read; change its permissions, or use another file");
  check_header(file);
  SQLite::Database database = open_existing(file);
  set_up(database);
  return database;
}

} // namespace

SQLite::Database open_for_writing(const fs::path& file, std::chrono::milliseconds patience, const std::string& vfs) {
  replace_system_calls();
  return guarded(file, [&] {
    check_path(file);
    if (file.has_parent_path())
      fs::create_directories(file.parent_path());
    check_writable(file);
    if (!is_empty_or_missing(file))
      check_header(file);
    SQLite::Database database(file.string(), SQLite::OPEN_READWRITE | SQLite::OPEN_CREATE,
                              static_cast<int>(patience.count()), vfs);
    set_up(database);
    migrate(database, file, embedded_migrations());
    maintain_checks(database);
    if (!try_wal(database, patience))
      database.exec("PRAGMA journal_mode = TRUNCATE");
    set_durability(database, Durability::metrics);
    return database;
  });
}

SQLite::Database open_of_any_format(const fs::path& file) {
  replace_system_calls();
  return guarded(file, [&] {
    check_path(file);
    if (!fs::exists(file))
      throw input_error(file.string() + ": no such run database; the first stored run creates it");
    if (fs::file_size(file) == 0)
      throw input_error(file.string() + ": empty; no run was stored in it yet");
    SQLite::Database database = open_stored(file);
    if (checked_format(database, file, static_cast<int>(embedded_migrations().size())) == 0)
      throw input_error(file.string() + ": empty; no run was stored in it yet");
    return database;
  });
}

SQLite::Database open_for_reading(const fs::path& file) {
  SQLite::Database database = open_of_any_format(file);
  const int newest = static_cast<int>(embedded_migrations().size());
  const int format = guarded(file, [&] { return checked_format(database, file, newest); });
  if (format < newest)
    throw input_error(fmt::format("{}: was written by an older version of BatchScope (format {}; this version reads "
                                  "{}); the next command that writes to it upgrades it",
                                  file.string(), format, newest));
  return database;
}

void check_usable(const fs::path& file) {
  replace_system_calls();
  guarded(file, [&] {
    check_path(file);
    if (is_empty_or_missing(file))
      return;
    SQLite::Database database = open_stored(file);
    checked_format(database, file, static_cast<int>(embedded_migrations().size()));
  });
}

std::string why_read_only(const fs::path& file) {
  std::error_code ignored;
  if (!fs::exists(file, ignored))
    return {};
  try {
    check_writable(file);
    return {};
  } catch (const Error& error) {
    return error.what();
  }
}

void set_durability(SQLite::Database& database, Durability durability) {
  const bool wal = database.execAndGet("PRAGMA journal_mode").getString() == "wal";
  database.exec(wal && durability == Durability::metrics ? "PRAGMA synchronous = NORMAL" : "PRAGMA synchronous = FULL");
}

} // namespace batchscope::store::detail
