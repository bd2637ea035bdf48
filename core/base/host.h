#pragma once

#include <cstdint>
#include <string>

namespace batchscope {

/// Host memory available without swapping (MemAvailable), in bytes. Throws Error (unavailable) if the system does not
/// report it.
std::uint64_t free_host_memory();

/// The processor's name as the system reports it; empty if it does not.
std::string processor_name();

} // namespace batchscope
