#pragma once

#include <optional>

#include "core/run/run_spec.h"
#include "core/run/run_start.h"
#include "ui/workbench/workbench.h"

namespace batchscope::ui {

/// Whether a test of one program shows what the other can do.
bool same_program(const run::ProgramSpec& one, const run::ProgramSpec& other);

/// Properties that the spec's program has reported in the last test of this session, or else in an opened run: its plan
/// can be made with them before it starts. Nothing if they are not known, or if its batch size cannot be changed. UI
/// thread.
std::optional<run::RunStart> known_start(Workbench& workbench, const run::RunSpec& spec);

} // namespace batchscope::ui
