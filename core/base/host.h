#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>

namespace batchscope {

/// Host memory available without swapping (MemAvailable), or what the memory limit of a container leaves if that is
/// less, in bytes. Throws Error (unavailable) if the system does not report it.
std::uint64_t free_host_memory();

/// Bytes that the memory limits of a control group (version 2) and of those around it leave, counting cached files as
/// free; nothing without a limit. `root`: where control groups are mounted; `group`: its path below, as
/// /proc/self/cgroup has it.
std::optional<std::uint64_t> free_in_group(const std::filesystem::path& root, const std::filesystem::path& group);

/// The processor's name as the system reports it; empty if it does not.
std::string processor_name();

} // namespace batchscope
