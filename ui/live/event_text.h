#pragma once

#include <QString>

#include "core/telemetry/record.h"
#include "ui/texts/oom_details.h"

// Events of a run in plain words. What an event does not say, or says in a form that is not known, is left out.
namespace batchscope::ui {

/// An event's cells in the table.
struct EventText {
  QString what;
  QString tried;
  QString now;
  QString asked;
  QString in_use;
  QString action;
  bool alarming = false; ///< out of memory, or something that went wrong
};

EventText event_text(const telemetry::Event& event);

/// What an evaluation came to, of a run that goes on or is read; NaN for other events.
double validation_loss(const telemetry::Event& event);

/// Which events are shown.
enum class EventGroup { all, out_of_memory, edits, evaluations };
EventGroup group_of(const telemetry::Event& event); ///< never `all` but for what is in no other

} // namespace batchscope::ui
