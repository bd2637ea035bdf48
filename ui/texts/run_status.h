#pragma once

#include <QString>

#include "ui/theme/theme.h"

namespace batchscope::ui {

/// A run's status (see OpenRun::status() and store::RunOutcome) for display; an unknown one is returned unchanged.
QString status_text(const QString& status);

/// Colour of a status: accent, good, warning or error; dimmed if there is nothing to note.
Role role_of_status(const QString& status);

} // namespace batchscope::ui
