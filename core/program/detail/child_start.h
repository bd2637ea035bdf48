#pragma once

#include "core/program/child.h"
#include "core/program/detail/program_folder.h"
#include "core/program/link.h"
#include "core/program/program_source.h"
#include "core/run/run_spec.h"
#include "core/run/source.h"

namespace batchscope::program {

/// How the spec's program is started: its command with all placeholders replaced, and the variables by which the client
/// finds the socket. Throws Error (input) as filled_command().
ChildStart child_start(const run::RunSpec& spec, const Surroundings& surroundings, const run::RunPlace& place,
                       const ProgramFolder& folder, const Link& link);

} // namespace batchscope::program
