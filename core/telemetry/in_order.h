#pragma once

#include <utility>
#include <vector>

#include "core/telemetry/record.h"

namespace batchscope::telemetry {

/// Hands on the records and the events of a part of a run, each in its own order, as they came about: an event follows
/// the record of its step.
template <typename TakeRecord, typename TakeEvent>
void in_order(const std::vector<StepRecord>& records, std::vector<Event>&& events, const TakeRecord& take_record,
              const TakeEvent& take_event) {
  auto event = events.begin();
  for (const StepRecord& record : records) {
    for (; event != events.end() && event->step < record.step; ++event)
      take_event(std::move(*event));
    take_record(record);
  }
  for (; event != events.end(); ++event)
    take_event(std::move(*event));
}

} // namespace batchscope::telemetry
