#include "core/data/split.h"

#include <cmath>

#include "core/data/sampler.h"

namespace batchscope::data {

std::int64_t held_out(std::int64_t examples, double fraction) {
  // The small addend keeps 0.3 of 10 at 3.
  return static_cast<std::int64_t>(std::floor(static_cast<double>(examples) * fraction * (1 + 1e-12)));
}

Split draw_split(std::int64_t examples, double fraction) {
  constexpr std::uint64_t seed = 0x5B11'7000; // arbitrary, but fixed
  const EpochOrder order(examples, seed, 0);
  std::vector<bool> validates(static_cast<std::size_t>(examples), false);
  for (std::int64_t i = 0; i < held_out(examples, fraction); ++i)
    validates[static_cast<std::size_t>(order.at(i))] = true;
  Split split;
  for (std::int64_t i = 0; i < examples; ++i)
    (validates[static_cast<std::size_t>(i)] ? split.validation : split.train).push_back(i);
  return split;
}

Split split_after(std::int64_t examples, std::int64_t training) {
  Split split;
  for (std::int64_t i = 0; i < examples; ++i)
    (i < training ? split.train : split.validation).push_back(i);
  return split;
}

} // namespace batchscope::data
