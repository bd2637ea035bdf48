// Replays allocations through LibTorch's own CUDA caching allocator on a pretended device, and prints what it reserves.
// Input: the capacity in bytes and the number of events, then for each event the block's number and its bytes, or 0 to
// free it; all unsigned 64-bit numbers of this machine. Output: one line, `fits RESERVED ALLOCATED` (peaks in bytes) or
// `oom RESERVED ALLOCATED MESSAGE`. It is a process of its own because the pretended runtime replaces the real one.
#include <cstdint>
#include <cstdio>
#include <string>
#include <vector>

#include <c10/cuda/CUDACachingAllocator.h>

#include "app/reserve/pretended_cuda.h"

namespace {

namespace caching = c10::cuda::CUDACachingAllocator;

struct Event {
  std::uint64_t block;
  std::uint64_t bytes;
};

std::string one_line(std::string text) {
  for (char& c : text) {
    if (c == '\n' || c == '\r')
      c = ' ';
  }
  return text;
}

/// The first line of LibTorch's message; nothing if all fitted.
std::string replay(const std::vector<Event>& events) {
  std::vector<void*> blocks;
  try {
    for (const Event& event : events) {
      if (event.bytes > 0) {
        if (event.block >= blocks.size())
          blocks.resize(event.block + 1, nullptr);
        blocks[event.block] = caching::raw_alloc(event.bytes);
      } else if (event.block < blocks.size() && blocks[event.block] != nullptr) {
        caching::raw_delete(blocks[event.block]);
        blocks[event.block] = nullptr;
      }
    }
  } catch (const c10::Error& error) {
    return one_line(error.what_without_backtrace());
  }
  return {};
}

} // namespace

int main() {
  std::uint64_t head[2] = {0, 0};
  if (std::fread(head, sizeof head[0], 2, stdin) != 2)
    return 2;
  constexpr std::uint64_t max_events = 1 << 28;
  if (head[1] > max_events)
    return 2;
  std::vector<Event> events(head[1]);
  if (std::fread(events.data(), sizeof(Event), events.size(), stdin) != events.size())
    return 2;
  set_pretended_capacity(head[0]);
  caching::init(1);
  const std::string refused = replay(events);
  const auto stats = caching::getDeviceStats(0);
  std::printf("%s %lld %lld %s\n", refused.empty() ? "fits" : "oom",
              static_cast<long long>(stats.reserved_bytes[0].peak),
              static_cast<long long>(stats.allocated_bytes[0].peak), refused.c_str());
  std::fflush(stdout);
  std::_Exit(0); // nothing to tear down: the device is not there
}
