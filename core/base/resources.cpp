#include "core/base/resources.h"

#include <cstdlib>

namespace batchscope {

namespace fs = std::filesystem;

fs::path resources_folder() {
  if (const char* named = std::getenv("BATCHSCOPE_RESOURCES"); named && *named)
    return named;
  std::error_code error;
  const fs::path program = fs::read_symlink("/proc/self/exe", error);
  const fs::path installed = program.parent_path().parent_path() / "share" / "batchscope";
  if (!error && fs::is_directory(installed, error))
    return installed;
  return BATCHSCOPE_RESOURCES;
}

} // namespace batchscope
