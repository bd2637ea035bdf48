#pragma once

#include <QString>

#include "core/telemetry/outcome.h"
#include "ui/theme/theme.h"

namespace batchscope::ui {

/// A run's status (see OpenRun::status() and telemetry::RunOutcome) for display; an unknown one is returned unchanged.
QString status_text(const QString& status);
/// A stored status, as OpenRun::status() names it: "finished".
QString status_name(telemetry::RunStatus status);

/// Colour of a status: accent, good, warning or error; dimmed if there is nothing to note.
Role role_of_status(const QString& status);

} // namespace batchscope::ui
