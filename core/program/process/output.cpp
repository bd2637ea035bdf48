#include "core/program/process/output.h"

#include <algorithm>
#include <array>
#include <fstream>

#include "core/base/json.h"

namespace batchscope::program {

namespace {

constexpr std::uint64_t most_bytes_a_poll = 4 << 20;

/// Bytes that are not UTF-8 replaced, as they will be in JSON.
std::string as_utf8(const std::string& text) {
  return Json::parse(json_text(Json(text))).get<std::string>();
}

} // namespace

OutputFollower::OutputFollower(std::filesystem::path file) : file_(std::move(file)) {}

std::vector<std::string> OutputFollower::poll(bool ended) {
  std::vector<std::string> lines;
  std::ifstream stream(file_, std::ios::binary | std::ios::ate);
  const std::uint64_t size = stream ? static_cast<std::uint64_t>(stream.tellg()) : 0;
  if (size < position_) // emptied by somebody
    position_ = 0;
  std::uint64_t left = std::min(size - position_, most_bytes_a_poll);
  more_ = size - position_ > left;
  stream.seekg(static_cast<std::streamoff>(position_));
  std::vector<char> buffer(std::min<std::uint64_t>(left, 1 << 16));
  while (left > 0 &&
         stream.read(buffer.data(), static_cast<std::streamsize>(std::min<std::uint64_t>(left, buffer.size())))) {
    const auto count = static_cast<std::size_t>(stream.gcount());
    take(buffer.data(), count, lines);
    position_ += count;
    left -= count;
  }
  if (ended && !more_ && !line_.empty())
    lines.push_back(std::exchange(line_, {}));
  return lines;
}

void OutputFollower::take(const char* bytes, std::size_t size, std::vector<std::string>& lines) {
  const char* const end = bytes + size;
  while (bytes < end) {
    const char* line_end = std::find_if(bytes, end, [](char c) { return c == '\n' || c == '\r'; });
    const auto room = longest_line - line_.size();
    line_.append(bytes, std::min(room, static_cast<std::size_t>(line_end - bytes)));
    if (line_end == end)
      return;
    if (!line_.empty()) // an empty line says nothing, nor does what is between \r and \n
      lines.push_back(std::exchange(line_, {}));
    bytes = line_end + 1;
  }
}

std::string OutputFollower::tail() const {
  std::ifstream stream(file_, std::ios::binary | std::ios::ate);
  if (!stream)
    return {};
  const auto size = static_cast<std::uint64_t>(stream.tellg());
  const std::uint64_t start = size > tail_bytes ? size - tail_bytes : 0;
  stream.seekg(static_cast<std::streamoff>(start));
  std::string text(static_cast<std::size_t>(size - start), '\0');
  stream.read(text.data(), static_cast<std::streamsize>(text.size()));
  text.resize(static_cast<std::size_t>(stream.gcount()));
  const std::size_t first_end = start > 0 ? text.find('\n') : std::string::npos;
  if (first_end != std::string::npos)
    text.erase(0, first_end + 1);
  return as_utf8(text);
}

} // namespace batchscope::program
