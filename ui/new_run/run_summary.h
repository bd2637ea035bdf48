#pragma once

#include <QStringList>

#include "core/run/run_spec.h"

namespace batchscope::ui {

/// Sentences that describe a run before it starts: how its batch size is chosen, what each step takes, how long it is,
/// and what happens when memory runs out.
QStringList run_summary(const run::RunSpec& spec);

} // namespace batchscope::ui
