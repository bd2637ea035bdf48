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

fs::path manual() {
  const fs::path above = resources_folder().parent_path();
  for (const fs::path& page : {above / "doc" / "batchscope" / "index.html", above / "build" / "docs" / "index.html",
                               above / "docs" / "index.md"}) {
    std::error_code error;
    if (fs::is_regular_file(page, error))
      return page;
  }
  return {};
}

} // namespace batchscope
