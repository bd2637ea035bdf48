#include "core/program/process/detail/trial_folder.h"

#include <chrono>
#include <csignal>
#include <random>
#include <string_view>
#include <thread>

#include <fmt/format.h>

#include "core/base/error.h"
#include "core/base/owned_folder.h"

namespace batchscope::program {

namespace {

namespace fs = std::filesystem;

constexpr const char* trial_prefix = "batchscope_trial_";

std::string new_uid() {
  std::random_device random;
  return fmt::format("{:08x}{:08x}{:08x}{:08x}", random(), random(), random(), random());
}

/// The file that says whose it is goes last.
void remove_all_of(const fs::path& folder) {
  std::error_code ignored;
  for (fs::directory_iterator entry(folder, ignored); entry != fs::directory_iterator(); entry.increment(ignored))
    if (entry->path().filename() != owner_name)
      fs::remove_all(entry->path(), ignored);
  fs::remove_all(folder, ignored);
}

/// All of its processes, also those that they start meanwhile. They are not this process's, so that nothing can be
/// waited for; one that waits for a device ends later.
void end_program_in(const fs::path& folder) {
  const auto note = ProgramFolder(folder).note();
  if (!note)
    return;
  const std::string uid = folder.filename().string().substr(std::string_view(trial_prefix).size());
  ProcessGroup group = ProgramFolder::group_of(*note, uid);
  for (int attempt = 0; attempt < 100 && !group.members().empty(); ++attempt) {
    group.signal(SIGKILL);
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
}

fs::path temporary_root() {
  std::error_code error;
  fs::path root = fs::temp_directory_path(error);
  if (error)
    throw Error(Error::Kind::failed, "no folder for temporary files; accepted: a TMPDIR that exists");
  return root;
}

} // namespace

TrialFolder::TrialFolder()
    : uid_(new_uid()), folder_(temporary_root() / (trial_prefix + uid_)), owner_(own_folder(folder_.path())) {}

TrialFolder::~TrialFolder() {
  remove_all_of(folder_.path());
}

void remove_abandoned_trials() {
  std::error_code ignored;
  for_each_abandoned(fs::temp_directory_path(ignored), trial_prefix, [](const fs::path& folder) {
    end_program_in(folder);
    remove_all_of(folder);
  });
}

} // namespace batchscope::program
