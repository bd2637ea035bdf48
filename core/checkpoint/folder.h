#pragma once

#include <cstdint>
#include <filesystem>
#include <set>
#include <string>
#include <vector>

// Where the checkpoints of a run database are: FILE-checkpoints/UID/step-NUMBER.safetensors.
namespace batchscope::checkpoint {

/// The folder of one run.
std::filesystem::path folder_of_run(const std::filesystem::path& database, const std::string& uid);
std::filesystem::path file_of_step(const std::filesystem::path& folder, std::int64_t step);

struct File {
  std::filesystem::path path;
  std::int64_t step = 0;
};
/// The checkpoints in a run's folder, newest first; empty if there is no such folder.
std::vector<File> files_in(const std::filesystem::path& folder);

/// Removes what a process that was killed in the middle of writing has left in a run's folder.
void remove_unfinished(const std::filesystem::path& folder);

/// Folders of runs that are not in the database.
struct Orphans {
  std::vector<std::filesystem::path> folders;
  std::int64_t files = 0;
  std::uint64_t bytes = 0;
};
/// `runs`: uids of all runs of the database, deleted ones that can be restored included.
Orphans orphans(const std::filesystem::path& database, const std::set<std::string>& runs);
/// Throws Error (failed) naming the folder that cannot be removed.
void remove(const Orphans& orphans);

} // namespace batchscope::checkpoint
