#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "core/data/data_pool.h"
#include "core/estimate/dry_runs.h"
#include "core/run/run_spec.h"

namespace batchscope::estimate {

/// How large one dimension of a built-in model may be made, the others unchanged.
struct Growth {
  std::string dimension; ///< name of a size of run::ModelSpec: `layers`, `width`, `context`
  std::int64_t now = 0;
  std::int64_t largest = 0; ///< with which the batch still fits; the model's own bound if that is lower
};

/// For all dimensions in which the model grows. Makes a few dozen dry runs: a fraction of a second; a few seconds for a
/// card, and with convolutions of new shapes, whose workspace is measured unless the target is a GPU. Empty if the
/// batch does not fit as the model is. Throws what predict_memory() throws.
std::vector<Growth> room_to_grow(const run::RunSpec& spec, DryRuns& dry_runs, std::int64_t batch, data::DataPool& pool);

} // namespace batchscope::estimate
