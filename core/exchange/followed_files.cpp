#include "core/exchange/followed_files.h"

#include <algorithm>
#include <chrono>
#include <set>
#include <thread>

#include "core/base/error.h"
#include "core/exchange/detail/file_state.h"

namespace batchscope::exchange {

namespace fs = std::filesystem;

namespace {

using Clock = std::chrono::steady_clock;

void wait_until(Clock::time_point next, const std::function<bool()>& stopping) {
  constexpr std::chrono::milliseconds nap{100};
  while (!stopping() && Clock::now() < next)
    std::this_thread::sleep_for(nap);
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

void FollowedFiles::follow(const ImportedRuns& first, store::RunStore& store, const std::function<bool()>& stopping,
                           const Reports& reports) {
  constexpr std::chrono::seconds least{1};
  constexpr int share = 4;
  std::set<std::string> remarks;
  const auto take = [&](const ImportedRuns& read) {
    reports.stored(store_runs(read, store));
    for (const std::string& remark : read.remarks)
      if (remarks.insert(remark).second)
        reports.remark(remark);
  };
  std::string problem;
  const auto attempt = [&](const auto& read) {
    std::string now;
    try {
      take(read());
    } catch (const Error& error) {
      now = error.what();
    }
    if (now != problem)
      reports.problem(now);
    problem = std::move(now);
  };
  take(first);
  Clock::time_point next = Clock::now() + least;
  for (wait_until(next, stopping); !stopping(); wait_until(next, stopping)) {
    const auto begin = Clock::now();
    attempt([this] { return read_changed(); });
    next = Clock::now() + std::max<Clock::duration>(least, share * (Clock::now() - begin));
  }
  attempt([this] { return read_last(); });
}

} // namespace batchscope::exchange
