#pragma once

#include <string>
#include <vector>

namespace batchscope::cli {

/// Values of visible_devices for the GPUs `cuda:0,cuda:2`, one for each worker of a sweep. Where that variable is set
/// already, the numbers count within it. Throws Error (input) for another text, and for a GPU that is named twice or is
/// none of those that are visible.
std::vector<std::string> cards_of_workers(const std::string& devices);

} // namespace batchscope::cli
