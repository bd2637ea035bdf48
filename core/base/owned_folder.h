#pragma once

#include <filesystem>
#include <functional>
#include <string>

#include "core/base/descriptor.h"

namespace batchscope {

/// The file in a folder that its owner has locked while it lives.
inline constexpr const char* owner_name = "owner";

/// Makes a folder of mode 0700, or takes over one whose owner has died. It is this process's until the descriptor is
/// closed; remove its owner file last. Throws Error: input if it is another user's, or a living process has it; failed
/// if it cannot be made.
Descriptor own_folder(const std::filesystem::path& folder);

/// Calls `remove` for each folder of this user in `root` whose name begins with `prefix` and whose owner has died.
/// Nobody else takes the folder over meanwhile.
void for_each_abandoned(const std::filesystem::path& root, const std::string& prefix,
                        const std::function<void(const std::filesystem::path&)>& remove);

} // namespace batchscope
