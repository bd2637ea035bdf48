#include "core/store/step_times.h"

#include <algorithm>

namespace batchscope::store {

double StepTimes::at(std::int64_t step) {
  if (!times_) {
    constexpr const char* name = "seconds";
    const auto names = reader_.series_names(run_);
    const bool timed = std::find(names.begin(), names.end(), name) != names.end();
    times_ = timed ? reader_.series(run_, name) : std::vector<Point>{};
  }
  const auto time = std::lower_bound(times_->begin(), times_->end(), step,
                                     [](const Point& point, std::int64_t wanted) { return point.step < wanted; });
  return time == times_->end() ? end_ : time->value;
}

} // namespace batchscope::store
