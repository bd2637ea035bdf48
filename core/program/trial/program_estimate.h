#pragma once

#include <cstdint>
#include <functional>
#include <vector>

#include "core/program/protocol/wire.h"
#include "core/program/run/program_source.h"

namespace batchscope::program {

/// Asks a program for the memory of steps that it does not run: its model is copied onto tensors without data. The
/// program is started, makes a step of one example, answers and is ended. Throws Error: input if it cannot be started;
/// failed with the reason if it does not answer, and "stopped" if `stop` returns true. One thread.
EstimateMessage estimate_program(const run::RunSpec& spec, const Surroundings& surroundings,
                                 const std::vector<std::int64_t>& batches, const std::function<bool()>& stop);

/// The largest batch whose peak is within so many bytes: of the straight line through the two largest sizes of the
/// estimate. Nothing if it has fewer than two, or if they do not grow; 0 if not even one example fits.
std::optional<std::int64_t> largest_within(const EstimateMessage& estimate, std::uint64_t bytes);

} // namespace batchscope::program
