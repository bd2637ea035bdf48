#pragma once

#include <cstdint>
#include <vector>

namespace batchscope::data {

/// Indices of the training and validation examples.
struct Split {
  std::vector<std::int64_t> train;
  std::vector<std::int64_t> validation;
};

/// The number of examples held out for a fraction of 0..0.9; at least one is left for training.
std::int64_t held_out(std::int64_t examples, double fraction);
/// Draws the validation part with a fixed hash, the same in every run; both parts are in ascending order.
Split draw_split(std::int64_t examples, double fraction);
/// The first `training` examples are for training, the rest for validation.
Split split_after(std::int64_t examples, std::int64_t training);

} // namespace batchscope::data
