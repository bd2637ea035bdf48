#include "core/memory/device.h"

#include <fstream>
#include <string>

#include "core/base/error.h"
#include "core/base/text.h"
#include "core/memory/detail/devices.h"

namespace batchscope::memory {

namespace {

constexpr std::string_view cuda_prefix = "cuda:";
constexpr int most_gpus = 64; // LibTorch's own bound on device numbers

/// The GPU's number, or nothing for `cpu`.
std::optional<int> parse_device(const std::string& text) {
  if (text == "cpu")
    return std::nullopt;
  if (!text.starts_with(cuda_prefix))
    throw input_error("--device: '" + text + "' is no device; accepted are cpu and cuda:N");
  return static_cast<int>(parse_integer(text.substr(cuda_prefix.size()), "--device cuda:N", 0, most_gpus - 1));
}

} // namespace

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
