#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace batchscope::sweep {

/// A sweep's results for one batch size.
struct SizeResult {
  std::int64_t batch = 0;
  double accuracy = 0; ///< validation, 0..1
  double examples_per_second = 0;
};

struct Recommendation {
  std::int64_t batch = 0;
  std::string reason; ///< one sentence with the deciding figures, without its subject and full stop
};

/// For display: `Recommended batch size: 64`, and `Why: it has ...`
std::string headline(const Recommendation& recommendation);
std::string explanation(const Recommendation& recommendation);

/// The batch size that a sweep recommends: among the sizes whose accuracy does not differ significantly from the best
/// one (two standard errors of a proportion measured on `validation_examples`), the smallest within 5 % of the best
/// throughput among them. Nothing if no size has a finite accuracy and a throughput.
std::optional<Recommendation> recommend(const std::vector<SizeResult>& sizes, std::int64_t validation_examples);

} // namespace batchscope::sweep
