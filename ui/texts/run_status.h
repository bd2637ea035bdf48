#pragma once

#include <QString>

#include "ui/theme/theme.h"

namespace batchscope::ui {

/// A run's status (see OpenRun::status() and store::RunOutcome) in a person's words; one that is not known as it is.
QString status_text(const QString& status);

/// What its colour means: accent, good, warning or error; dimmed where there is nothing to say.
Role role_of_status(const QString& status);

} // namespace batchscope::ui
