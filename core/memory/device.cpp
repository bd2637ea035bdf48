#include "core/memory/device.h"

#include <string>

#include "core/base/device_name.h"
#include "core/memory/detail/devices.h"

namespace batchscope::memory {

std::unique_ptr<Device> open_device(const std::string& text, std::optional<std::uint64_t> budget) {
  const std::optional<int> gpu = parse_device(text);
  return gpu ? open_cuda(*gpu, budget) : open_cpu(budget);
}

} // namespace batchscope::memory
