#pragma once

#include <cstdint>
#include <vector>

namespace batchscope::data {

/// Which examples train and which validate.
struct Split {
  std::vector<std::int64_t> train;
  std::vector<std::int64_t> validation;
};

/// How many of `examples` a share 0..0.9 holds out; at least one is left to train.
std::int64_t held_out(std::int64_t examples, double share);
/// Draws the held-out part by a fixed hash, the same in every run; both parts in ascending order.
Split draw_split(std::int64_t examples, double share);

} // namespace batchscope::data
