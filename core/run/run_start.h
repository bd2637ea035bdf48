#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "core/predict/peak_curve.h"

namespace batchscope::run {

/// What a run is before its first step: everything that was chosen for it.
struct RunStart {
  std::int64_t batch = 0;   ///< first nominal batch
  std::string batch_reason; ///< why a search chose it, one sentence; empty where it was given
  std::int64_t accumulate = 1;
  std::int64_t train_examples = 0;
  std::int64_t validation_examples = 0;
  std::int64_t parameters = 0; ///< trainable
  std::uint64_t budget_bytes = 0;
  std::uint64_t baseline_bytes = 0;
  std::int64_t warmup_steps = 0;
  std::optional<std::int64_t> expected_steps; ///< where the plan is known
  std::vector<std::string> notes; ///< what a person should know before it starts (batch norm, automatic warm-up)
  std::optional<predict::PeakCurve> memory; ///< foretold by the search before it, or by two probes where asked for
  std::optional<std::int64_t> search;       ///< number in the database of the search that chose the batch
};

/// As the store keeps it, in one line.
std::string to_json(const RunStart& start);
/// The way back, of this and of earlier versions: what the text leaves out keeps its default. Throws Error (input) for
/// what is no such text.
RunStart run_start_from_json(const std::string& text);

} // namespace batchscope::run
