#include "core/memory/device.h"

#include <fstream>
#include <string>

#include "core/base/device_name.h"
#include "core/base/error.h"
#include "core/memory/detail/devices.h"

namespace batchscope::memory {

std::unique_ptr<Device> open_device(const std::string& text, std::optional<std::uint64_t> budget) {
  const std::optional<int> gpu = parse_device(text);
  return gpu ? open_cuda(*gpu, budget) : open_cpu(budget);
}

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
  throw Error(Error::Kind::unavailable, "/proc/meminfo does not tell MemAvailable; name a --memory-budget");
}

} // namespace batchscope::memory
