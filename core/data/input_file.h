#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

namespace batchscope::data {

/// A file that is read from its beginning to its end, plain or gzip as its first bytes say. For the readers only.
/// Every function throws Error (input) naming the file, and the offset (in the unpacked bytes) where there is one.
class InputFile {
public:
  /// Refuses what is missing, no regular file, empty or not readable.
  explicit InputFile(const std::string& path);

  const std::string& path() const { return path_; }
  std::uint64_t offset() const { return offset_; }
  /// More bytes than this the file cannot hold: its size, or what deflate can make of it at most.
  std::uint64_t most_bytes() const { return most_bytes_; }
  bool compressed() const { return compressed_; }

  /// Reads `count` bytes; refuses a file that ends before, saying what they were meant to be.
  std::vector<std::uint8_t> read(std::uint64_t count, const std::string& what);
  /// Refuses bytes that are left.
  void expect_end(const std::string& what);
  /// "FILE: why", as an input error.
  [[noreturn]] void refuse(const std::string& why) const;

private:
  struct Close {
    void operator()(void* file) const;
  };
  std::size_t read_some(void* to, std::size_t count);

  std::string path_;
  std::unique_ptr<void, Close> file_; ///< zlib's gzFile
  std::uint64_t offset_ = 0;
  std::uint64_t most_bytes_ = 0;
  bool compressed_ = false;
};

/// A whole text file, not compressed, without a byte order mark.
std::string read_text_file(const std::string& path);

} // namespace batchscope::data
