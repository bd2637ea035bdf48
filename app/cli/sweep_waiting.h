#pragma once

#include <cstdint>
#include <vector>

#include "app/cli/context.h"

namespace batchscope::cli {

/// Ends runs that wait in a sweep's queue without making them (`sweep --skip`), or puts them first, in this order
/// (`sweep --first`). They must be of one sweep. Return the exit status; throw Error (input) for a run that does not
/// wait, with nothing changed.
int skip_waiting(const std::vector<std::int64_t>& runs, const Context& context);
int put_first(const std::vector<std::int64_t>& runs, const Context& context);

} // namespace batchscope::cli
