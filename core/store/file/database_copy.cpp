#include "core/store/file/detail/database_copy.h"

#include <string>

#include <fcntl.h>
#include <unistd.h>

#include "core/base/folder.h"
#include "core/store/file/detail/database_files.h"
#include "core/store/file/detail/sql.h"

namespace batchscope::store::detail {

namespace fs = std::filesystem;

fs::path free_name(const fs::path& first) {
  fs::path name = first;
  for (int number = 2; fs::exists(fs::symlink_status(name)) || fs::exists(log_of(name)); ++number)
    name = first.string() + '-' + std::to_string(number);
  return name;
}

void sync_to_disk(const fs::path& file) {
  for (const fs::path& each : {file, folder_of(file)}) {
    const int descriptor = ::open(each.c_str(), O_RDONLY | O_CLOEXEC);
    if (descriptor < 0)
      continue;
    ::fsync(descriptor);
    ::close(descriptor);
  }
}

void copy_database(SQLite::Database& from, const fs::path& target) {
  fs::path unfinished = target;
  unfinished += ".unfinished";
  fs::remove(unfinished); // of a program that was killed
  try {
    execute(from, "VACUUM INTO ?", unfinished.string());
    sync_to_disk(unfinished); // SQLite does not
    fs::rename(unfinished, target);
    sync_to_disk(target);
  } catch (const std::exception&) {
    std::error_code none;
    fs::remove(unfinished, none);
    throw;
  }
}

} // namespace batchscope::store::detail
