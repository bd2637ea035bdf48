#include "core/base/owned_folder.h"

#include <cerrno>
#include <cstring>

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/file.h>
#include <sys/stat.h>

#include "core/base/error.h"

namespace batchscope {

namespace {

namespace fs = std::filesystem;

/// Locks the folder's owner file; nothing if a living process has it.
Descriptor lock_owner(const fs::path& folder) {
  const fs::path file = folder / owner_name;
  while (true) {
    Descriptor owner(::open(file.c_str(), O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600));
    if (!owner || ::flock(owner.get(), LOCK_EX | LOCK_NB) != 0)
      return {};
    // Another process may have removed the folder between the two calls.
    struct stat mine {
    }, there{};
    if (::fstat(owner.get(), &mine) == 0 && ::stat(file.c_str(), &there) == 0 && mine.st_ino == there.st_ino)
      return owner;
  }
}

bool is_own_folder(const fs::path& folder) {
  struct stat status {};
  return ::lstat(folder.c_str(), &status) == 0 && S_ISDIR(status.st_mode) && status.st_uid == ::getuid();
}

Error failure(const char* what, const fs::path& path) {
  return {Error::Kind::failed, fmt::format("{} {}: {}", what, path.string(), std::strerror(errno))};
}

} // namespace

Descriptor own_folder(const fs::path& folder) {
  // Another process may remove the folder as abandoned before it is locked.
  for (int attempt = 0; attempt < 100; ++attempt) {
    if (::mkdir(folder.c_str(), 0700) != 0 && errno != EEXIST)
      throw failure("cannot make the folder", folder);
    if (!is_own_folder(folder) || ::chmod(folder.c_str(), 0700) != 0)
      throw input_error(fmt::format("{} belongs to another user", folder.string()));
    if (Descriptor owner = lock_owner(folder))
      return owner;
    if (errno == EWOULDBLOCK)
      throw input_error(fmt::format("another BatchScope uses {}", folder.string()));
  }
  throw failure("cannot lock", folder / owner_name);
}

void for_each_abandoned(const fs::path& root, const std::string& prefix,
                        const std::function<void(const fs::path&)>& remove) {
  std::error_code ignored;
  fs::directory_iterator entry(root, ignored);
  for (; entry != fs::directory_iterator(); entry.increment(ignored)) {
    const fs::path folder = entry->path();
    if (!folder.filename().string().starts_with(prefix) || !is_own_folder(folder) ||
        !fs::exists(folder / owner_name, ignored))
      continue;
    if (const Descriptor owner = lock_owner(folder))
      remove(folder);
  }
}

} // namespace batchscope
