#pragma once

#include <QString>

#include "core/telemetry/describe.h"

namespace batchscope::ui {

/// An event's cells in the table; empty where nothing is known.
struct EventCells {
  QString what;
  QString before, after; ///< batch, or memory budget
  QString requested, in_use;
  QString details;
  bool alarming = false;
  telemetry::EventGroup group = telemetry::EventGroup::all;
};

EventCells cells_of(const telemetry::Event& event);

} // namespace batchscope::ui
