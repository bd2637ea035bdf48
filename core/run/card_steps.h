#pragma once

#include <cstdint>

#include "core/base/json.h"
#include "core/data/dataset.h"
#include "core/run/run_spec.h"
#include "core/telemetry/trace.h"

namespace batchscope::run {

/// Optimizer steps of a run on a GPU.
struct CardQuestion {
  RunSpec spec; ///< its data are not read, its weights not loaded
  data::ExampleShape shape;
  std::int64_t examples = 0;
  std::int64_t batch = 1;         ///< nominal
  std::uint64_t budget_bytes = 0; ///< for what the allocator reserves
};

/// Memory that the steps took.
struct CardSteps {
  bool fits = false;
  std::uint64_t reserved_bytes = 0;  ///< peak; what the card must have
  std::uint64_t allocated_bytes = 0; ///< peak of bytes in use, each block rounded up to 512
  std::int64_t parameters = 0;       ///< of the model
  telemetry::Trace trace;            ///< of the last step, if they fit; its peak is that of all

  /// Part of the reserved memory that no block used at the peak, 0..1.
  double fragmentation() const {
    return reserved_bytes > 0 ? 1 - static_cast<double>(allocated_bytes) / static_cast<double>(reserved_bytes) : 0;
  }
};

// For a process of its own: app/card/main.cpp. Reading throws Error (input).
Json to_json(const CardQuestion& question);
CardQuestion card_question_from_json(const Json& json);
Json to_json(const CardSteps& steps);
CardSteps card_steps_from_json(const Json& json);

} // namespace batchscope::run
