#pragma once

#include <array>
#include <filesystem>
#include <functional>
#include <ostream>
#include <streambuf>

namespace batchscope {

/// A file that appears at its path only when it is complete and on the disk: it is written to a temporary name beside
/// it, then renamed by publish(). An unpublished file is removed. Throws Error: input if the file cannot be created;
/// failed if writing fails, or if `cancelled`, called every 64 kB and before publishing, returns true.
class FileOutput : private std::streambuf {
public:
  FileOutput(const std::filesystem::path& file, bool replace, std::function<bool()> cancelled = {});
  ~FileOutput() override;
  FileOutput(const FileOutput&) = delete;
  FileOutput& operator=(const FileOutput&) = delete;

  std::ostream& stream() { return stream_; }
  void publish();

private:
  int_type overflow(int_type c) override;
  int sync() override;
  void check_target() const;
  void check_cancelled() const;

  const std::filesystem::path file_;
  const std::filesystem::path temporary_;
  const bool replace_;
  const std::function<bool()> cancelled_;
  int descriptor_ = -1;
  std::array<char, 1 << 16> buffer_;
  std::ostream stream_;
};

/// Throws Error (input) unless a file can appear there: its folder exists, and nothing has its name.
void check_new_file(const std::filesystem::path& file);

/// The same for a folder, which must not exist yet.
class FolderOutput {
public:
  explicit FolderOutput(const std::filesystem::path& folder);
  ~FolderOutput();
  FolderOutput(const FolderOutput&) = delete;
  FolderOutput& operator=(const FolderOutput&) = delete;

  /// Where to write.
  const std::filesystem::path& path() const { return temporary_; }
  void publish();

private:
  void check_target() const;

  const std::filesystem::path folder_;
  const std::filesystem::path temporary_;
  bool published_ = false;
};

} // namespace batchscope
