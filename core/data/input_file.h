#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <memory>
#include <string>
#include <vector>

namespace batchscope::data {

/// A file read sequentially, plain or gzip as its first bytes say. Every function throws Error (input) naming the file,
/// and the offset (in uncompressed bytes) where there is one.
class InputFile {
public:
  /// Throws if the file is missing, not a regular file, empty or not readable.
  explicit InputFile(const std::string& path);

  const std::string& path() const { return path_; }
  std::uint64_t offset() const { return offset_; }
  /// Upper bound for the uncompressed size: the file's size, or the most that deflate can expand it to.
  std::uint64_t max_bytes() const { return max_bytes_; }
  bool compressed() const { return compressed_; }

  /// Reads `count` bytes. If the file ends before, throws an error that says what the bytes were to be (`what`).
  std::vector<std::uint8_t> read(std::uint64_t count, const std::string& what);
  /// Throws if bytes are left.
  void expect_end(const std::string& what);
  /// Throws Error (input) "FILE: why".
  [[noreturn]] void refuse(const std::string& why) const;

private:
  struct Close {
    void operator()(void* file) const;
  };
  std::size_t read_some(void* to, std::size_t count);

  std::string path_;
  std::unique_ptr<void, Close> file_; ///< zlib's gzFile
  std::uint64_t offset_ = 0;
  std::uint64_t max_bytes_ = 0;
  bool compressed_ = false;
};

/// Reads a whole uncompressed text file and drops its byte order mark. Throws Error (input) naming the file; also if it
/// is empty or has more than `most` bytes.
std::string read_text_file(const std::string& path, std::uint64_t most = std::numeric_limits<std::uint64_t>::max());

} // namespace batchscope::data
