#include "core/data/input_file.h"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <filesystem>

#include <fmt/format.h>
#include <zlib.h>

#include "core/base/error.h"
#include "core/base/open_database.h"
#include "core/base/text.h"

namespace batchscope::data {

namespace {

/// Memory is allocated in pieces of this size as bytes arrive, so a false size in the file costs nothing.
constexpr std::uint64_t piece = 16U << 20;
/// Deflate expands one byte to at most 1032.
constexpr std::uint64_t max_expansion = 1032;

gzFile handle(void* file) {
  return static_cast<gzFile>(file);
}

} // namespace

std::uint64_t checked_size(const std::string& path) {
  namespace fs = std::filesystem;
  std::error_code problem;
  const fs::file_status status = fs::status(path, problem);
  if (status.type() == fs::file_type::not_found)
    throw input_error(fmt::format("{}: no such file", path));
  if (status.type() == fs::file_type::directory)
    throw input_error(fmt::format("{}: is a directory, not a file", path));
  if (status.type() != fs::file_type::regular)
    throw input_error(fmt::format("{}: is not a regular file{}{}", path, problem ? ": " : "", problem.message()));
  const std::uintmax_t size = fs::file_size(path, problem);
  if (problem)
    throw input_error(fmt::format("{}: {}", path, problem.message()));
  if (size == 0)
    throw input_error(fmt::format("{}: the file is empty", path));
  refuse_open_database(path);
  return size;
}

void InputFile::Close::operator()(void* file) const {
  gzclose_r(handle(file));
}

InputFile::InputFile(const std::string& path) : InputBytes(path) {
  const std::uint64_t size = checked_size(path);
  errno = 0;
  file_.reset(gzopen(path.c_str(), "rb"));
  if (!file_)
    refuse(errno != 0 ? std::strerror(errno) : "cannot be opened");
  gzbuffer(handle(file_.get()), 1U << 17);
  compressed_ = gzdirect(handle(file_.get())) == 0;
  set_max_bytes(compressed_ ? size * max_expansion : size);
}

std::size_t InputFile::read_some(void* to, std::size_t count) {
  const int got = gzread(handle(file_.get()), to, static_cast<unsigned>(count));
  int status = Z_OK;
  const char* message = gzerror(handle(file_.get()), &status);
  if (got < 0 || status == Z_BUF_ERROR) {
    const std::uint64_t where = offset() + static_cast<std::uint64_t>(std::max(got, 0));
    if (status == Z_BUF_ERROR)
      refuse(fmt::format("the gzip data is truncated after {} unpacked bytes", where));
    if (status == Z_ERRNO)
      refuse(fmt::format("cannot be read at offset {}: {}", where, std::strerror(errno)));
    refuse(fmt::format("the gzip data is damaged after {} unpacked bytes ({})", where, message));
  }
  return static_cast<std::size_t>(got);
}

std::vector<std::uint8_t> InputBytes::read(std::uint64_t count, const std::string& what) {
  if (compressed() && count > max_bytes_)
    refuse(fmt::format("{} should have {} bytes, more than the file can hold unpacked", what, count));
  if (!compressed() && count > max_bytes_ - std::min(offset_, max_bytes_))
    refuse(fmt::format("ends at offset {}; expected {} ({} bytes) from offset {}", max_bytes_, what, count, offset_));
  const std::uint64_t begin = offset_;
  std::vector<std::uint8_t> bytes;
  while (bytes.size() < count) {
    const std::size_t had = bytes.size();
    const std::size_t wanted = static_cast<std::size_t>(std::min<std::uint64_t>(count - had, piece));
    bytes.resize(had + wanted);
    const std::size_t got = read_some(bytes.data() + had, wanted);
    offset_ += got;
    if (got < wanted)
      refuse(fmt::format("ends at offset {}; expected {} ({} bytes) from offset {}", offset_, what, count, begin));
  }
  return bytes;
}

void InputBytes::expect_end(const std::string& what) {
  const std::uint64_t end = offset_;
  char next = 0;
  if (read_some(&next, 1) != 0)
    refuse(fmt::format("has more data after offset {}, where {} should end", end, what));
}

void InputBytes::refuse(const std::string& why) const {
  throw input_error(fmt::format("{}: {}", path_, why));
}

std::string read_text_file(const std::string& path, std::uint64_t most) {
  InputFile file(path);
  if (file.compressed())
    file.refuse("is compressed with gzip; a plain text file is needed");
  if (file.max_bytes() > most)
    file.refuse(fmt::format("too large; accepted: a file of up to {}", format_bytes(most)));
  const std::vector<std::uint8_t> bytes = file.read(file.max_bytes(), "the text");
  std::string text(bytes.begin(), bytes.end());
  if (text.starts_with("\xEF\xBB\xBF"))
    text.erase(0, 3);
  if (text.empty())
    file.refuse("the file is empty");
  return text;
}

} // namespace batchscope::data
