#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "core/compare/runs.h"
#include "core/compare/statistics.h"
#include "core/telemetry/outcome_fields.h"

// Which runs a mean is made of: the same ones in a sentence, a table, a plot and a file.
namespace batchscope::compare {

/// Whether the results of a run are those of a whole training: it has finished. One that is not over, or was stopped,
/// skipped, or has failed has those of a part of it, or none.
bool counts(const ComparedRun& run);
/// How many of these do.
std::int64_t counted(const Comparison& comparison, const std::vector<std::size_t>& runs);

/// Whether other work on the machine took so much of a run's time that its speed says little.
bool is_disturbed(const telemetry::RunOutcome& outcome);

/// Of repeats of one setting, leaves those that tell its speed: the runs that were not disturbed, unless all were.
void leave_out_disturbed(std::vector<std::size_t>& runs,
                         const std::function<const telemetry::RunOutcome&(std::size_t)>& outcome_of);

/// Which of `runs`, that are repeats of one setting, tell what their value is: those that count and have one (`has`).
/// Of what is learnt, one run of each seed, as runs of this program learn the same; of speeds, see
/// leave_out_disturbed().
std::vector<std::size_t> evidence(const Comparison& comparison, const std::vector<std::size_t>& runs,
                                  telemetry::DependsOn what, const std::function<bool(std::size_t)>& has);

/// What these runs came to: of those that are evidence with a finite value (`values` by run).
Summary summary_of(const Comparison& comparison, const std::vector<std::size_t>& runs,
                   const std::vector<double>& values, telemetry::DependsOn what);

} // namespace batchscope::compare
