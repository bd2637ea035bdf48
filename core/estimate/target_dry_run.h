#pragma once

#include <cstdint>
#include <memory>

#include "core/data/data_pool.h"
#include "core/data/dataset.h"
#include "core/estimate/cards.h"
#include "core/run/dry_run.h"
#include "core/run/run_spec.h"

namespace batchscope::estimate {

/// Dry runs of a spec for a target. For a GPU the workspace of kernels is left out: those of `cpu` need other amounts.
std::unique_ptr<run::DryRun> dry_run_for(const run::RunSpec& spec, const data::ExampleShape& shape,
                                         std::int64_t examples, const Target& target);

/// Whether a step with this batch fits into `bytes` of a target. For a GPU, what LibTorch's CUDA allocator reserves
/// must fit; for an amount of memory, or if this torch was built without CUDA, the bytes in use.
bool fits(run::DryRun& dry_run, std::int64_t batch, const Target& target, std::uint64_t bytes);

} // namespace batchscope::estimate
