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

/// Removes disturbed runs from repeats of one setting, because they do not show its speed; removes none if all were
/// disturbed.
void leave_out_disturbed(std::vector<std::size_t>& runs,
                         const std::function<const telemetry::RunOutcome&(std::size_t)>& outcome_of);

/// Selects the evidence for the value of one setting from its repeats `runs`: runs that count (see counts()) and have a
/// value (`has`). For results of learning, one run of each seed, because runs of this program with one seed learn the
/// same; for speeds, see leave_out_disturbed().
std::vector<std::size_t> evidence(const Comparison& comparison, const std::vector<std::size_t>& runs,
                                  telemetry::DependsOn what, const std::function<bool(std::size_t)>& has);

/// Summarizes the results of those runs that are evidence with a finite value (`values` by run).
Summary summary_of(const Comparison& comparison, const std::vector<std::size_t>& runs,
                   const std::vector<double>& values, telemetry::DependsOn what);

} // namespace batchscope::compare
