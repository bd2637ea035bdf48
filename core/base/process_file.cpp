#include "core/base/process_file.h"

#include <array>
#include <cstdlib>
#include <fstream>
#include <sstream>

#include <fmt/format.h>

namespace batchscope {

std::string process_file(const std::string& process, const char* file) {
  std::ifstream stream(fmt::format("/proc/{}/{}", process, file), std::ios::binary);
  std::string text;
  std::array<char, 4096> part{};
  // read() notes the failure when the process ends meanwhile; the iterators of a stream throw.
  while (stream.read(part.data(), part.size()) || stream.gcount() > 0)
    text.append(part.data(), static_cast<std::size_t>(stream.gcount()));
  return text;
}

std::optional<ProcessStat> process_stat(const std::string& process) {
  const std::string text = process_file(process, "stat");
  // The second field is the program's name in parentheses and may contain anything, even parentheses.
  const std::size_t name_end = text.rfind(')');
  if (name_end == std::string::npos)
    return std::nullopt;
  std::istringstream fields(text.substr(name_end + 1));
  ProcessStat stat;
  pid_t group = 0;
  fields >> stat.state >> stat.parent >> group >> stat.session;
  constexpr int after_session = 7;
  constexpr int start_field = 22;
  std::string skipped;
  for (int field = after_session; field < start_field; ++field)
    fields >> skipped;
  return fields >> stat.started ? std::optional(stat) : std::nullopt;
}

std::optional<std::uint64_t> process_bytes(const std::string& process, const char* file, const std::string& name) {
  std::istringstream lines(process_file(process, file));
  std::string line;
  while (std::getline(lines, line))
    if (line.starts_with(name))
      return std::strtoull(line.c_str() + name.size(), nullptr, 10) << 10;
  return std::nullopt;
}

} // namespace batchscope
