#include "core/store/file/detail/database.h"

#include <fmt/format.h>
#include <sqlite3.h>

namespace batchscope::store::detail {

namespace {

// SQLite reports a quota and a file size limit with these codes, without telling which one it was.
bool refuses_writing(const SQLite::Exception& exception) {
  const int code = exception.getExtendedErrorCode();
  return code == SQLITE_IOERR_WRITE || code == SQLITE_IOERR_SHMSIZE || code == SQLITE_IOERR_FSYNC;
}

} // namespace

bool is_transient(const SQLite::Exception& exception) {
  const int code = exception.getErrorCode() & 0xff;
  return code == SQLITE_BUSY || code == SQLITE_LOCKED || code == SQLITE_FULL || refuses_writing(exception);
}

bool is_damage(const SQLite::Exception& exception) {
  const int code = exception.getErrorCode() & 0xff;
  return code == SQLITE_CORRUPT || code == SQLITE_NOTADB;
}

Error translated(const SQLite::Exception& exception, const std::filesystem::path& file) {
  const std::string name = file.string() + ": ";
  switch (exception.getErrorCode() & 0xff) { // without the extended code
  case SQLITE_FULL:
    return {Error::Kind::failed, name + "the disk is full; free some space and try again"};
  case SQLITE_BUSY:
  case SQLITE_LOCKED:
    return input_error(name + "locked by another program; wait until it is done, or use another file");
  case SQLITE_READONLY:
  case SQLITE_PERM:
  case SQLITE_AUTH:
    return input_error(name + "cannot be written; change its or its folder's permissions, or use another file");
  case SQLITE_CANTOPEN:
    return input_error(name + "cannot be opened; check that its folder exists and both may be read and written");
  case SQLITE_NOTADB:
    return input_error(name + "not a BatchScope database; use another file");
  case SQLITE_CORRUPT:
    return {
        Error::Kind::failed,
        fmt::format("{0}: damaged; `batchscope-cli --db {0} check` shows where; with --repair it saves what is whole",
                    file.string())};
  case SQLITE_IOERR:
    return {Error::Kind::failed,
            name + (refuses_writing(exception) ? "writing to the disk failed: quota exceeded, file too large or a disk "
                                                 "error; free some space and try again"
                                               : "the disk cannot be read; check it, or use another file")};
  default:
    return {Error::Kind::failed, name + "the run database failed: " + exception.what()};
  }
}

} // namespace batchscope::store::detail
