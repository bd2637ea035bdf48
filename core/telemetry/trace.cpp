#include "core/telemetry/trace.h"

namespace batchscope::telemetry {

const char* to_string(Use use) {
  switch (use) {
  case Use::parameters:
    return "parameters";
  case Use::gradients:
    return "gradients";
  case Use::optimizer:
    return "optimizer";
  case Use::activations:
    return "activations";
  case Use::workspace:
    return "workspace";
  case Use::batch:
    return "batch";
  }
  return "unknown";
}

std::string peak_series(Use use) {
  return std::string("peak_") + to_string(use) + "_bytes";
}

bool is_peak_series(const std::string& name) {
  if (!name.starts_with("peak_")) // most names: this is asked for each series of each run
    return false;
  for (int use = 0; use < use_count; ++use)
    if (name == peak_series(static_cast<Use>(use)))
      return true;
  return false;
}

const char* to_string(Phase phase) {
  switch (phase) {
  case Phase::setup:
    return "setup";
  case Phase::optimizer_state:
    return "optimizer state";
  case Phase::batch:
    return "batch";
  case Phase::forward:
    return "forward";
  case Phase::backward:
    return "backward";
  case Phase::update:
    return "optimizer step";
  case Phase::evaluation:
    return "evaluation";
  }
  return "unknown";
}

} // namespace batchscope::telemetry
