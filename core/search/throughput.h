#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "core/search/finder.h"

namespace batchscope::search {

/// Timing of one stretch: some whole steps of one size.
struct Stretch {
  double step_seconds = 0;
  double examples_per_second = 0;
  double spent_seconds = 0; ///< on the whole stretch, untimed steps included
};

/// Times a size known to fit for a fraction of a second, at least one step; nothing if it did not fit after all.
using TimeStretch = std::function<std::optional<Stretch>(std::int64_t batch)>;

/// The sizes worth timing: powers of two up to the largest, the largest, and the safe one.
std::vector<std::int64_t> sizes_to_time(const SearchResult& result);

/// Measures the throughput of the sizes (ascending), for knee(). Times each size once, then those that may still be the
/// knee in turns, up and down, so that other load on the machine affects all of them alike. Repeats until the stretches
/// agree on the knee, at least three and at most nine times; or, if that takes longer than 20 seconds, twice. Calls
/// `on_timing` after each stretch with the results so far of its size. One thread.
std::vector<Timing> measure_throughput(const std::vector<std::int64_t>& sizes, const TimeStretch& time,
                                       const std::function<void(const Timing&)>& on_timing = {});

/// Times the sizes of a search that has found some, and fills its timings and recommended size; `reason` says why that
/// one. Where `stop` says that the user has stopped it, the result is `interrupted`, with the timings so far. Throws
/// what `time` throws otherwise.
void time_sizes(SearchResult& result, const TimeStretch& time, const std::function<void(const Timing&)>& on_timing,
                const std::function<bool()>& stop);

/// Adds to why the search ended as it did.
void add_reason(SearchResult& result, const std::string& reason);

/// Why `batch` is the knee, with the deciding figures; one sentence without a full stop.
std::string knee_reason(const std::vector<Timing>& timings, std::int64_t batch);

} // namespace batchscope::search
