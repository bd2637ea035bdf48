#pragma once

#include <string>

#include "app/cli/context.h"
#include "core/sweep/sweep.h"

namespace batchscope::cli {

/// Prediction for a sweep: `12 runs, predicted peak 5.1 MB to 99.6 MB, 2 will not fit, about 3:20`.
std::string prediction_line(const sweep::SweepPlan& plan, const Context& context);

/// Prints each run with its batch size, predicted peak and time; returns the exit status.
int print_plan(const sweep::SweepPlan& plan, const Context& context);

} // namespace batchscope::cli
