#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "core/search/finder.h"

namespace batchscope::search {

/// What one stretch of whole steps of a size took.
struct Stretch {
  double step_seconds = 0;
  double examples_per_second = 0;
  double spent_seconds = 0; ///< by all of it, steps that were not timed included
};

/// Times a size known to fit for a fraction of a second, at least one step; nothing where it did not fit after all.
using TimeStretch = std::function<std::optional<Stretch>(std::int64_t batch)>;

/// The sizes that are worth timing: powers of two up to the largest, the largest, and the safe one.
std::vector<std::int64_t> sizes_to_time(const SearchResult& result);

/// Throughput of the sizes (ascending), for knee(). All are timed once, then those that may still be the knee in turns,
/// up and down, so that whatever else the machine does meets all of them alike: until the stretches agree on where the
/// knee is, but at least three times and at most nine, or where that takes longer than 20 seconds, twice.
/// Tells `on_timing` of each stretch with what is known of its size by then. One thread.
std::vector<Timing> measure_throughput(const std::vector<std::int64_t>& sizes, const TimeStretch& time,
                                       const std::function<void(const Timing&)>& on_timing = {});

/// Why `batch` is the knee of the timings, with the figures that decided; one sentence without its full stop.
std::string knee_reason(const std::vector<Timing>& timings, std::int64_t batch);

} // namespace batchscope::search
