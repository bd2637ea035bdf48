#pragma once

#include <cstdint>
#include <memory>

#include "core/data/data_pool.h"
#include "core/data/dataset.h"
#include "core/estimate/cards.h"
#include "core/run/dry_run.h"
#include "core/run/run_spec.h"

namespace batchscope::estimate {

/// Dry runs of a spec for a target: of a card without the workspace of kernels, which those of `cpu` say nothing about.
std::unique_ptr<run::DryRun> dry_run_for(const run::RunSpec& spec, const data::ExampleShape& shape,
                                         std::int64_t examples, const Target& target);

/// Whether a step with this batch fits into `bytes` of a target: of a card, what LibTorch's CUDA allocator reserves; of
/// a size, or if this torch was built without CUDA, what is in use.
bool fits(run::DryRun& dry_run, std::int64_t batch, const Target& target, std::uint64_t bytes);

} // namespace batchscope::estimate
