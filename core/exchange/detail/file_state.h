#pragma once

#include <filesystem>
#include <string>

namespace batchscope::exchange::detail {

/// Changes when the file, or one in the folder, is written. A database in WAL mode is written in the file beside it.
std::string state_of(const std::filesystem::path& path);

} // namespace batchscope::exchange::detail
