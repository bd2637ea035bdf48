#pragma once

#include <memory>

#include "core/data/dataset.h"
#include "core/run/engine.h"
#include "core/run/run_spec.h"

namespace batchscope::train {

/// See run::Engine::dry_run().
std::unique_ptr<run::DryRun> make_dry_run(const run::RunSpec& spec, const data::ExampleShape& shape,
                                          std::int64_t examples,
                                          run::Engine::Workspace workspace = run::Engine::Workspace::learn);

} // namespace batchscope::train
