#pragma once

#include <cstdint>

namespace batchscope {

/// Host memory available without swapping (MemAvailable), in bytes. Throws Error (unavailable) if the system does not
/// report it.
std::uint64_t free_host_memory();

} // namespace batchscope
