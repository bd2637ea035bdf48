#pragma once

#include <filesystem>

namespace batchscope {

/// The folder of a file; `.` if the path has none.
std::filesystem::path folder_of(const std::filesystem::path& file);

} // namespace batchscope
