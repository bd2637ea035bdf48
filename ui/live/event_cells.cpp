#include "ui/live/event_cells.h"

#include "ui/texts/message_text.h"

namespace batchscope::ui {

EventCells cells_of(const telemetry::Event& event) {
  const telemetry::Description description = telemetry::describe(event);
  const auto cell = [](const std::optional<telemetry::Argument>& value) { return value ? text_of(*value) : QString(); };
  return {.what = text_of(description.title),
          .before = cell(description.before),
          .after = cell(description.after),
          .requested = cell(description.requested),
          .in_use = cell(description.in_use),
          .details = text_of(description.details),
          .alarming = description.alarming,
          .group = description.group};
}

} // namespace batchscope::ui
