#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <map>
#include <string>
#include <vector>

#include "core/exchange/import.h"
#include "core/store/run_store.h"

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

  /// What is told while files are followed, on the thread that follows them.
  struct Reports {
    std::function<void(const ImportResult&)> stored;
    std::function<void(const std::string&)> remark; ///< as ImportedRuns::remarks, each once
    /// Why files cannot be read or stored at present, which is tried again: a file that is just being replaced, a
    /// locked database. Once for each reason; empty when it is over.
    std::function<void(const std::string&)> problem;
  };
  /// Stores `first`, which was read before, and then what has changed, until `stopping`, which is asked ten times a
  /// second; then reads all of it once more. It reads each second, less often if reading takes long, so that most of
  /// the processor's time is left to others. Throws what the store throws for `first`.
  void follow(const ImportedRuns& first, store::RunStore& store, const std::function<bool()>& stopping,
              const Reports& reports);

private:
  struct File {
    std::filesystem::path path;
    std::string state; ///< of the file, when it was read last
  };

  std::vector<File> files_;
  ImportOptions options_;
};

} // namespace batchscope::exchange
