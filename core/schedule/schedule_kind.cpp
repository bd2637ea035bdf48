#include "core/schedule/schedule_kind.h"

#include <algorithm>

namespace batchscope::schedule {

#define KIND(name) extern const ScheduleKind name##_schedule;
#include "core/schedule/kinds.def"
#undef KIND

const std::vector<const ScheduleKind*>& schedule_kinds() {
  static const std::vector<const ScheduleKind*> kinds = {
#define KIND(name) &name##_schedule,
#include "core/schedule/kinds.def"
#undef KIND
  };
  return kinds;
}

const ScheduleKind* kind_of(const std::string& text) {
  const std::string name = text.substr(0, text.find(':'));
  const auto& kinds = schedule_kinds();
  const auto found =
      std::find_if(kinds.begin(), kinds.end(), [&](const ScheduleKind* kind) { return name == kind->name; });
  return found == kinds.end() ? nullptr : *found;
}

} // namespace batchscope::schedule
