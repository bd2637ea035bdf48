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
