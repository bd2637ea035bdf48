#include "core/exchange/detail/file_state.h"

#include <fmt/format.h>

namespace batchscope::exchange::detail {

namespace fs = std::filesystem;

namespace {

std::string state_of_file(const fs::path& file) {
  std::error_code ignored;
  const auto size = fs::file_size(file, ignored);
  const auto time = fs::last_write_time(file, ignored);
  return fmt::format("{}:{}:{}\n", file.string(), size, time.time_since_epoch().count());
}

} // namespace

std::string state_of(const fs::path& path) {
  std::error_code ignored;
  if (!fs::is_directory(path, ignored))
    return state_of_file(path) + state_of_file(path.string() + "-wal");
  std::string state;
  for (const auto& entry : fs::recursive_directory_iterator(path, ignored))
    if (entry.is_regular_file(ignored))
      state += state_of_file(entry.path());
  return state;
}

} // namespace batchscope::exchange::detail
