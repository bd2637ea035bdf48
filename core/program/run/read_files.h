#pragma once

#include <chrono>
#include <filesystem>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "core/base/json.h"
#include "core/exchange/import.h"
#include "core/telemetry/record.h"

namespace batchscope::program {

/// Reads series from files that a program writes, while they grow, with the readers of `import`. Tables and event files
/// are read from where they ended, a file that is one document as a whole when it has changed. One thread.
class ReadFiles {
public:
  /// `reads`: `tensorboard:DIR`, `csv:FILE`, `trainer-state:DIR`, paths relative to `folder`; the files may not exist
  /// yet, and none is read. Throws Error (input) naming the text for another form.
  ReadFiles(const std::vector<std::string>& reads, const std::filesystem::path& folder);
  ~ReadFiles();
  ReadFiles(ReadFiles&&) noexcept;

  bool empty() const { return files_.empty(); }
  /// Leaves out what the files have now: call it before the program starts.
  void skip_present();
  /// How far the files were read, for another one of the same reads.
  Json position() const;
  void resume(const Json& position);

  /// The values that were added since the last call, by step, in ascending order; at most one look a second, and the
  /// last step of a file only once a later one is there. With `ended`, for a program that writes no more, all. Members
  /// of a StepRecord that no file has are NaN or 0; other series are in `more`. A file that cannot be read yet is
  /// tried again; problem() then says why.
  std::vector<telemetry::StepRecord> poll(bool ended = false);
  /// Whether the last poll() has left something for the next one, which looks at once.
  bool has_more() const { return more_; }
  /// Why a file could not be read the last time; empty if all could.
  const std::string& problem() const { return problem_; }

private:
  struct File;
  using Values = std::map<std::int64_t, std::map<std::string, double>>;
  bool read(File& file, bool ended);

  std::vector<std::unique_ptr<File>> files_;
  std::chrono::steady_clock::time_point next_{};
  bool more_ = false;
  std::string problem_;
};

} // namespace batchscope::program
