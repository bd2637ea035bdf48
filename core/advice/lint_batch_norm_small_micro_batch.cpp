#include <fmt/format.h>

#include "core/advice/lint.h"
#include "core/advice/sources.h"
#include "core/base/text.h"

namespace batchscope::advice {

std::optional<Finding> batch_norm_small_micro_batch_lint(const JudgedRun& judged);
std::optional<Finding> batch_norm_small_micro_batch_lint(const JudgedRun& judged) {
  constexpr std::int64_t least = 16;
  const RunFacts& run = judged.run;
  if (!run.batch_norm || !run.micro_batch || *run.micro_batch >= least)
    return std::nullopt;
  Finding found{.title = "Batch norm with small micro batches", .value = static_cast<double>(*run.micro_batch)};
  found.message = fmt::format("batch norm takes its statistics from micro batches of {}; it needs {} or more",
                              format_count(*run.micro_batch), least);
  found.mend = "group norm, or SyncBatchNorm over several ranks";
  const std::string norm = "norm=batch";
  if (run.own && run.own->model.find(norm) != std::string::npos) {
    std::string model = run.own->model;
    model.replace(model.find(norm), norm.size(), "norm=group");
    found.mend = fmt::format("--model {}, or SyncBatchNorm over several ranks", model);
    found.changes = {{"model", model}};
  }
  found.source = cite("tradeoffs", "interaction 6");
  return found;
}

} // namespace batchscope::advice
