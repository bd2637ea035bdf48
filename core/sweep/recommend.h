#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace batchscope::sweep {

/// What a sweep measured for one batch size.
struct SizeResult {
  std::int64_t batch = 0;
  double accuracy = 0; ///< validation, 0..1
  double examples_per_second = 0;
};

struct Recommendation {
  std::int64_t batch = 0;
  std::string reason; ///< one sentence with the figures that decided, without its beginning and its full stop
};

/// The same for people: `Recommended batch size: 64`, and `Why: it has ...`
std::string headline(const Recommendation& recommendation);
std::string explanation(const Recommendation& recommendation);

/// The size that a sweep speaks for: of those whose accuracy cannot be told from the best one's (two standard errors
/// of a share measured on so many validation examples), the smallest within 5 % of their best throughput.
/// Nothing where no size has a finite accuracy and a speed.
std::optional<Recommendation> recommend(const std::vector<SizeResult>& sizes, std::int64_t validation_examples);

} // namespace batchscope::sweep
