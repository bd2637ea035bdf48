#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "core/search/finder.h"

namespace batchscope::search {

/// Timing of one stretch: some whole steps of one size. If other work took some of its time, as it would have been
/// without that, estimated.
struct TimedSteps {
  double step_seconds = 0;
  double examples_per_second = 0;
  double spent_seconds = 0; ///< on the whole stretch, untimed steps included
  double lost = 0;          ///< fraction of its timed steps that other work took, 0..1
};

/// The stretch of steps that took `seconds` each, with `examples` in each. If it was disturbed, a step takes the mean
/// without what was lost, or the median if that is less: of steps that are shorter than the scheduler's time slices
/// most are not disturbed at all.
TimedSteps timed_steps_of(const std::vector<double>& seconds, double examples, const ProcessorShare& share);

/// Times a size known to fit for a fraction of a second, at least one step; nothing if it did not fit after all.
using TimeSteps = std::function<std::optional<TimedSteps>(std::int64_t batch)>;

/// The sizes worth timing: powers of two up to the largest, the largest, and the safe one.
std::vector<std::int64_t> sizes_to_time(const SearchResult& result);

/// Measures the throughput of the sizes (ascending), for knee(). Times each size once, then those that may still be the
/// knee in turns, up and down, so that other load on the machine affects all of them alike. Repeats until the stretches
/// agree on the knee, at least three and at most nine times; or, if that takes longer than 20 seconds (disturbed by
/// other work 40), twice. Calls `on_timing` after each stretch with the results so far of its size. One thread.
std::vector<Timing> measure_throughput(const std::vector<std::int64_t>& sizes, const TimeSteps& time,
                                       const std::function<void(const Timing&)>& on_timing = {});

/// The same from stretches that were made before, by size: at least one of each.
std::vector<Timing> timings_of(const std::map<std::int64_t, std::vector<TimedSteps>>& stretches);

/// Fills the recommended size of a search that has timings; `reason` says why that one, and what is not certain.
void recommend(SearchResult& result);

/// Times the sizes of a search that has found some, and fills its timings and recommended size; see recommend(). Where
/// `stop` says that the user has stopped it, the result is `interrupted`, with the timings so far. Throws what `time`
/// throws otherwise.
void time_sizes(SearchResult& result, const TimeSteps& time, const std::function<void(const Timing&)>& on_timing,
                const std::function<bool()>& stop);

/// Adds to why the search ended as it did.
void add_reason(SearchResult& result, const std::string& reason);

/// The recommended size, or without one, as timings vary too much, the fastest measured; nothing without timings.
std::optional<std::int64_t> recommended_or_fastest(const SearchResult& result);

/// Why `batch` is the knee, with the deciding figures; one sentence without a full stop.
std::string knee_reason(const std::vector<Timing>& timings, std::int64_t batch);
/// Uncertainties of the timings, as sentences without a full stop: that they are estimates, because other work took
/// part of the time, and which sizes cannot be told apart if there is no knee. Empty if there are none.
std::string doubt_about(const std::vector<Timing>& timings);

} // namespace batchscope::search
