#pragma once

#include <filesystem>
#include <utility>

#include <sys/stat.h>

namespace batchscope::ui {

/// Device and inode, which identify a file under any name; zeros for no file.
using FileIdentity = std::pair<dev_t, ino_t>;

inline FileIdentity file_identity(const std::filesystem::path& file) {
  struct stat status {};
  ::stat(file.c_str(), &status);
  return {status.st_dev, status.st_ino};
}

} // namespace batchscope::ui
