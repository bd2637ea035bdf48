#include "core/exchange/followed_files.h"

#include <fmt/format.h>

namespace batchscope::exchange {

namespace {

namespace fs = std::filesystem;

std::string state_of_file(const fs::path& file) {
  std::error_code ignored;
  const auto size = fs::file_size(file, ignored);
  const auto time = fs::last_write_time(file, ignored);
  return fmt::format("{}:{}:{}\n", file.string(), size, time.time_since_epoch().count());
}

/// Changes when the file, or one in the folder, is written. A database in WAL mode is written in the file beside it.
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

} // namespace

FollowedFiles::FollowedFiles(const std::vector<fs::path>& paths, ImportOptions options) : options_(std::move(options)) {
  options_.partial = true;
  for (const fs::path& path : paths) {
    importer_of(path);
    files_.push_back({path, {}});
  }
}

ImportedRuns FollowedFiles::read_changed() {
  options_.running = true;
  ImportedRuns changed;
  std::map<File*, std::string> states;
  for (File& file : files_) {
    // Before reading: what is written meanwhile is read the next time.
    std::string state = state_of(file.path);
    if (state == file.state)
      continue;
    changed.add(read_runs_of(file.path, options_));
    states[&file] = std::move(state);
  }
  for (auto& [file, state] : states)
    file->state = std::move(state);
  return changed;
}

ImportedRuns FollowedFiles::read_last() const {
  ImportOptions options = options_;
  options.running = false;
  ImportedRuns all;
  for (const File& file : files_)
    all.add(read_runs_of(file.path, options));
  return all;
}

} // namespace batchscope::exchange
