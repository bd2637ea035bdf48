#pragma once

#include <memory>

#include "core/base/json.h"
#include "core/program/process/child.h"
#include "core/program/process/detail/program_folder.h"
#include "core/program/protocol/link.h"
#include "core/program/run/program_source.h"
#include "core/run/run_spec.h"
#include "core/run/source.h"

namespace batchscope::program {

/// Starts the spec's program in its folder, which is made: its command with all placeholders replaced, and the
/// variables by which the client finds the socket. The folder's note says what was started, with `reads`, also for a
/// BatchScope that comes after this one was killed. Throws Error as filled_command(), ProgramFolder and Child do.
std::unique_ptr<Child> start_child(const run::RunSpec& spec, const Surroundings& surroundings,
                                   const run::RunPlace& place, const ProgramFolder& folder, const Link& link,
                                   const Json& reads);

} // namespace batchscope::program
