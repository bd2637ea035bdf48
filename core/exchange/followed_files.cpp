#include "core/exchange/followed_files.h"

#include "core/exchange/detail/file_state.h"

namespace batchscope::exchange {

namespace fs = std::filesystem;

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
    std::string state = detail::state_of(file.path);
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
