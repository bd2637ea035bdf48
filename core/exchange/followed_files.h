#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <string>
#include <vector>

#include "core/exchange/import.h"

namespace batchscope::exchange {

/// Keeps the runs of files and folders that other programs still write up to date in a database. One thread at a time.
class FollowedFiles {
public:
  /// Reads nothing. Throws Error (input) for a path that is missing or that no importer accepts.
  FollowedFiles(const std::vector<std::filesystem::path>& paths, ImportOptions options);

  /// Reads what has changed since the last call. A record that is cut off is read once it is whole. Throws Error
  /// (input) naming the file; the next call tries again.
  ImportedRuns read_changed();
  /// Reads everything once more, for the end of the following: runs are no longer running.
  ImportedRuns read_last() const;

private:
  struct File {
    std::filesystem::path path;
    std::string state; ///< of the file, when it was read last
  };

  std::vector<File> files_;
  ImportOptions options_;
};

} // namespace batchscope::exchange
