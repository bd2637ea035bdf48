#pragma once

#include <optional>
#include <string_view>

namespace batchscope {

/// Sign of exhausted memory in the text of an error.
struct Shortage {
  enum class Of { host, device };
  enum class Sign {
    certain,
    likely,   ///< what libraries end with that were refused memory and have tried all else; rarely another fault
    possible, ///< mostly another fault; on a device that is nearly full it means memory
  };

  Of of = Of::host;
  Sign sign = Sign::certain;
};

/// By the texts of PyTorch, CUDA and its libraries, NCCL, NVML, oneDNN, CPython, libgomp and glibc. Of several signs
/// the first one of the table, which has certain ones first. Nothing if the text has none.
std::optional<Shortage> shortage_in(std::string_view text);

/// Whether so little of a device's memory is free that a `possible` sign means it: less than 3 %.
bool is_nearly_full(double free, double total);

} // namespace batchscope
