#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

namespace batchscope::program {

/// Reads the file to which a program writes its output, while it grows. One thread.
class OutputFollower {
public:
  static constexpr std::size_t tail_bytes = 16 << 10;
  static constexpr std::size_t longest_line = 64 << 10; ///< bytes; what a longer one has beyond is left out

  /// The file may not exist yet.
  explicit OutputFollower(std::filesystem::path file);

  /// The lines that were completed since the last call, without their ends; a carriage return ends a line too, as
  /// progress bars write it. Bytes as they were written, which need not be UTF-8. Reads at most 4 MB, so that a program
  /// that writes without end costs little memory; call it again while has_more(). With `ended`, for a program that
  /// writes no more, the last line needs no end.
  std::vector<std::string> poll(bool ended = false);
  /// Whether the last poll() left something that was written before it.
  bool has_more() const { return more_; }
  /// Bytes of the file that were read.
  std::uint64_t position() const { return position_; }
  /// The last 16 KiB of the file, from the start of a line, with U+FFFD for what is not UTF-8.
  std::string tail() const;

private:
  void take(const char* bytes, std::size_t size, std::vector<std::string>& lines);

  const std::filesystem::path file_;
  std::uint64_t position_ = 0;
  std::string line_; ///< what was read of a line without end
  bool more_ = false;
};

} // namespace batchscope::program
