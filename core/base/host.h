#pragma once

#include <cstdint>

namespace batchscope {

/// Memory of the host that can be had without swapping, in bytes (MemAvailable). Throws Error (unavailable) where the
/// system does not tell.
std::uint64_t free_host_memory();

} // namespace batchscope
