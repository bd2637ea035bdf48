#include "core/store/file/detail/database_files.h"

#include <sys/stat.h>

namespace batchscope::store::detail {

namespace {

std::filesystem::path beside(const std::filesystem::path& database, const char* ending) {
  std::filesystem::path file = database;
  file += ending;
  return file;
}

bool is_replaced(const FileIdentity& opened, const FileIdentity& now) {
  return opened != FileIdentity{} && opened != now;
}

} // namespace

FileIdentity identity_of(const std::filesystem::path& file) {
  struct stat status {};
  if (::stat(file.c_str(), &status) != 0)
    return {};
  return {status.st_dev, status.st_ino};
}

std::filesystem::path log_of(const std::filesystem::path& database) {
  return beside(database, "-wal");
}

std::filesystem::path index_of(const std::filesystem::path& database) {
  return beside(database, "-shm");
}

DatabaseFiles files_of(const std::filesystem::path& database) {
  return {identity_of(database), identity_of(log_of(database)), identity_of(index_of(database))};
}

bool is_replaced(const DatabaseFiles& opened, const DatabaseFiles& now) {
  return is_replaced(opened.database, now.database) || is_replaced(opened.log, now.log) ||
         is_replaced(opened.index, now.index);
}

} // namespace batchscope::store::detail
