#pragma once

#include <QStringList>

#include "core/run/run_spec.h"

namespace batchscope::ui {

/// What will happen when a run like this is started, in sentences: first the batch size, then what each step takes, how
/// long it goes on, and what is done when memory runs out.
QStringList run_outlook(const run::RunSpec& spec);

} // namespace batchscope::ui
