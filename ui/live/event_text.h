#pragma once

#include <QString>

#include "core/telemetry/record.h"
#include "ui/texts/oom_details.h"

// Texts for the events of a run. Fields that an event lacks, or whose form is unknown, are left out.
namespace batchscope::ui {

/// An event's cells in the table.
struct EventText {
  QString what;
  QString tried;
  QString now;
  QString asked;
  QString in_use;
  QString action;
  bool alarming = false; ///< out of memory, or an error
};

EventText event_text(const telemetry::Event& event);

/// Validation loss of an evaluation, during a run or read from the database; NaN for other events.
double validation_loss(const telemetry::Event& event);

/// Groups of events, for filtering.
enum class EventGroup { all, out_of_memory, edits, evaluations };
EventGroup group_of(const telemetry::Event& event); ///< `all` if it belongs to no other group

} // namespace batchscope::ui
