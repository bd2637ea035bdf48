#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace batchscope::bench {

/// A real step with one setting that saves memory, or several.
struct SaverRow {
  std::string setting;
  double real_bytes = 0;   ///< peak
  double dry_bytes = 0;    ///< peak of a dry run
  double milliseconds = 0; ///< of a step: the fastest of a few stretches
};

/// All settings of a model with one batch size; the first row is the plain step.
std::vector<SaverRow> measure_savers(const std::string& model, const std::string& data, std::int64_t batch);

} // namespace batchscope::bench
