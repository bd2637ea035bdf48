#pragma once

#include <string>
#include <vector>

namespace batchscope::cli {

/// What limits a process to some GPUs, by CUDA's own numbers, which then are its cuda:0, cuda:1 and so on.
inline constexpr const char* visible_devices = "CUDA_VISIBLE_DEVICES";

/// Of the GPUs `cuda:0,cuda:2`, one for each worker of a sweep: the value of that variable for each. Where the variable
/// is set already, they are numbers within it. Throws Error (input) for another text, and for a GPU that is named twice
/// or is none of those that are visible.
std::vector<std::string> visible_cards(const std::string& devices);

} // namespace batchscope::cli
