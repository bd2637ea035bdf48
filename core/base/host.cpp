#include "core/base/host.h"

#include <algorithm>
#include <fstream>
#include <string>

#include "core/base/error.h"
#include "core/base/text.h"

namespace batchscope {

namespace {

/// The number in a file; nothing if there is none (`max`), or no such file.
std::optional<std::uint64_t> number_in(const std::filesystem::path& path) {
  std::ifstream file(path);
  std::uint64_t number = 0;
  return file >> number ? std::optional(number) : std::nullopt;
}

std::uint64_t cached_files_in(const std::filesystem::path& group) {
  std::ifstream stat(group / "memory.stat");
  std::string key;
  for (std::uint64_t bytes = 0; stat >> key >> bytes;)
    if (key == "inactive_file")
      return bytes;
  return 0;
}

std::string own_group() {
  std::ifstream groups("/proc/self/cgroup");
  for (std::string line; std::getline(groups, line);)
    if (line.starts_with("0::/"))
      return line.substr(4);
  return {};
}

} // namespace

std::optional<std::uint64_t> free_in_group(const std::filesystem::path& root, const std::filesystem::path& group) {
  std::optional<std::uint64_t> least;
  for (std::filesystem::path path = group;; path = path.parent_path()) {
    const auto limit = number_in(root / path / "memory.max");
    const auto used = number_in(root / path / "memory.current");
    if (limit && used) {
      const std::uint64_t kept = *used - std::min(*used, cached_files_in(root / path));
      least = std::min(least.value_or(UINT64_MAX), *limit - std::min(*limit, kept));
    }
    if (path.empty())
      return least;
  }
}

std::uint64_t free_host_memory() {
  std::ifstream info("/proc/meminfo");
  std::string key;
  std::uint64_t kibibytes = 0;
  std::string unit;
  while (info >> key >> kibibytes) {
    if (key == "MemAvailable:")
      return std::min(kibibytes * 1024, free_in_group("/sys/fs/cgroup", own_group()).value_or(UINT64_MAX));
    std::getline(info, unit);
  }
  throw Error(Error::Kind::unavailable, "/proc/meminfo has no MemAvailable; set --memory-budget");
}

std::string processor_name() {
  std::ifstream info("/proc/cpuinfo");
  std::string line;
  while (std::getline(info, line))
    if (line.starts_with("model name"))
      return one_line(line.substr(line.find(':') + 1));
  return {};
}

} // namespace batchscope
