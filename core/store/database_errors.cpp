#include "core/store/detail/database.h"

#include <cerrno>
#include <system_error>

#include <sqlite3.h>

namespace batchscope::store::detail {

namespace {

bool no_room(int code, int system_error) {
  return code == SQLITE_FULL ||
         (code == SQLITE_IOERR && (system_error == ENOSPC || system_error == EFBIG || system_error == EDQUOT));
}

} // namespace

Error translated(const SQLite::Exception& exception, const std::filesystem::path& file, int system_error) {
  const std::string name = file.string() + ": ";
  const int code = exception.getErrorCode() & 0xff;
  if (no_room(code, system_error))
    return {Error::Kind::failed, name + "no room left on the disk (or in its quota); free some and try again"};
  switch (code) {
  case SQLITE_BUSY:
  case SQLITE_LOCKED:
    return input_error(name + "locked by another program; wait until it is done, or give another file");
  case SQLITE_READONLY:
  case SQLITE_PERM:
  case SQLITE_AUTH:
    return input_error(name + "cannot be written; change its or its folder's permissions, or give another file");
  case SQLITE_CANTOPEN:
    return input_error(name + "cannot be opened; check that its folder exists and both may be read and written");
  case SQLITE_NOTADB:
    return input_error(name + "not a BatchScope database; give another file");
  case SQLITE_CORRUPT:
    return {Error::Kind::failed, name + "damaged; `batchscope-cli check` says where, restore a backup of it"};
  case SQLITE_IOERR: {
    const std::string reason = system_error ? " (" + std::generic_category().message(system_error) + ")" : "";
    return {Error::Kind::failed, name + "the disk cannot be read or written" + reason};
  }
  default:
    return {Error::Kind::failed, name + "the run database failed: " + exception.what()};
  }
}

int system_error(const SQLite::Database& database) {
  return sqlite3_system_errno(database.getHandle());
}

} // namespace batchscope::store::detail
