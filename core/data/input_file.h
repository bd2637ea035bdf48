#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <memory>
#include <string>
#include <vector>

namespace batchscope::data {

/// Bytes read sequentially. Every function throws Error (input) naming the file, and the offset (in uncompressed bytes)
/// where there is one.
class InputBytes {
public:
  virtual ~InputBytes() = default;
  InputBytes(const InputBytes&) = delete;
  InputBytes& operator=(const InputBytes&) = delete;

  const std::string& path() const { return path_; }
  std::uint64_t offset() const { return offset_; }
  /// Upper bound for the uncompressed size.
  std::uint64_t max_bytes() const { return max_bytes_; }
  /// Whether max_bytes() is only a bound.
  virtual bool compressed() const { return false; }

  /// Reads `count` bytes. If there are fewer, throws an error that says what the bytes were to be (`what`).
  std::vector<std::uint8_t> read(std::uint64_t count, const std::string& what);
  /// Throws if bytes are left.
  void expect_end(const std::string& what);
  /// Throws Error (input) "FILE: why".
  [[noreturn]] void refuse(const std::string& why) const;

protected:
  explicit InputBytes(std::string path) : path_(std::move(path)) {}
  void set_max_bytes(std::uint64_t bytes) { max_bytes_ = bytes; }

private:
  /// Reads up to `count` bytes, fewer only at the end.
  virtual std::size_t read_some(void* to, std::size_t count) = 0;

  std::string path_;
  std::uint64_t offset_ = 0;
  std::uint64_t max_bytes_ = 0;
};

/// A file, plain or gzip as its first bytes say. If it is plain, max_bytes() is its size, else the most that deflate
/// can expand it to.
class InputFile final : public InputBytes {
public:
  /// Throws if the file is missing, not a regular file, empty or not readable.
  explicit InputFile(const std::string& path);

  bool compressed() const override { return compressed_; }

private:
  struct Close {
    void operator()(void* file) const;
  };
  std::size_t read_some(void* to, std::size_t count) override;

  std::unique_ptr<void, Close> file_; ///< zlib's gzFile
  bool compressed_ = false;
};

/// Size of a regular file that is not empty. Throws Error (input) naming it for all else, and as refuse_open_database()
/// does.
std::uint64_t checked_size(const std::string& path);

/// Reads a whole uncompressed text file and drops its byte order mark. Throws Error (input) naming the file; also if it
/// is empty or has more than `most` bytes.
std::string read_text_file(const std::string& path, std::uint64_t most = std::numeric_limits<std::uint64_t>::max());

} // namespace batchscope::data
