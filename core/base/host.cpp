#include "core/base/host.h"

#include <fstream>
#include <string>

#include "core/base/error.h"
#include "core/base/text.h"

namespace batchscope {

std::uint64_t free_host_memory() {
  std::ifstream info("/proc/meminfo");
  std::string key;
  std::uint64_t kibibytes = 0;
  std::string unit;
  while (info >> key >> kibibytes) {
    if (key == "MemAvailable:")
      return kibibytes * 1024;
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
