#pragma once

#include "core/run/run_spec.h"

namespace batchscope::sweep::detail {

/// Whether the seed reaches what is trained: a program of the user's own has it in its command, or is attached to.
bool takes_seed(const run::RunSpec& spec);

} // namespace batchscope::sweep::detail
