#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "app/cli/context.h"
#include "app/cli/display.h"
#include "app/cli/output.h"
#include "core/compare/answer.h"
#include "core/data/data_pool.h"
#include "core/run/job_control.h"
#include "core/store/run_store.h"
#include "core/sweep/sweep_spec.h"

namespace batchscope::cli {

/// Results of training the sizes of a search.
struct TrainedSizes {
  std::string goal;
  bool is_time = false; ///< results are seconds to a target, else scores
  std::int64_t sweep = 0;
  bool stopped = false;
  compare::Answer answer;
};

/// Trains the sizes of a sweep whose goal is valid, stores it and finds the best. Throws Error.
TrainedSizes train_sizes(const sweep::SweepSpec& spec, const std::shared_ptr<data::DataPool>& pool,
                         store::RunStore& store, Display& display, const std::shared_ptr<run::JobControl>& control,
                         const Context& context);

/// Each size with what its runs came to for the goal, best first: scores, or for a target the seconds until then.
Json sizes_json(const TrainedSizes& trained);
/// The same as a table, with the recommended size marked.
std::string sizes_table(const TrainedSizes& trained);

} // namespace batchscope::cli
