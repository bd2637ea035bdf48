#pragma once

#include <cstdint>
#include <memory>
#include <optional>

#include "core/memory/device.h"

namespace batchscope::memory {

/// `cpu`, counted by BudgetAllocator.
std::unique_ptr<Device> open_cpu(std::optional<std::uint64_t> budget);
/// `cuda:index`: LibTorch's caching allocator, loaded at run time.
std::unique_ptr<Device> open_cuda(int index, std::optional<std::uint64_t> budget);

/// Share of the free memory that is the default budget.
inline constexpr double default_fraction = 0.8;

} // namespace batchscope::memory
