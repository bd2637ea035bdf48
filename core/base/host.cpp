#include "core/base/host.h"

#include <fstream>
#include <string>

#include "core/base/error.h"

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

} // namespace batchscope
