#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

namespace batchscope::bench {

/// Time of the whole training loop, with telemetry and store, over that of a bare LibTorch loop of the same model that
/// computes the same numbers (loss and gradient norm included). Both in this process, in turn.
struct TrainingRatio {
  double median = 0;
  double lowest = 0;
  double highest = 0;
  double bare_step_microseconds = 0; ///< median
};

TrainingRatio measure_training(const std::string& model, std::int64_t batch, std::int64_t steps, int rounds,
                               const std::filesystem::path& folder);

/// Time of a run that measures the gradient noise scale as often as a schedule that needs it would, over that of the
/// same run without.
TrainingRatio measure_noise(const std::string& model, std::int64_t batch, std::int64_t accumulate, std::int64_t steps,
                            int rounds, const std::filesystem::path& folder);

} // namespace batchscope::bench
