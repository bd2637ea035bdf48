#include "core/base/folder.h"

namespace batchscope {

std::filesystem::path folder_of(const std::filesystem::path& file) {
  return file.has_parent_path() ? file.parent_path() : std::filesystem::path(".");
}

} // namespace batchscope
