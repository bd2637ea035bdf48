#include "app/cli/job_result.h"

#include <fmt/format.h>

#include "app/cli/describe.h"

namespace batchscope::cli {

void print_run(const job::JobResult& job, const Context& context, const Json& more) {
  if (!context.json) {
    print(fmt::format("run {}\n", job.id) + summary_text(job.outcome, job.start.batch_reason));
    return;
  }
  Json json{{"run", job.id}};
  json.update(summary_json(job.outcome));
  if (!job.start.batch_reason.empty())
    json["batch_reason"] = job.start.batch_reason;
  if (job.search)
    json["search"] = *job.search;
  json.update(more);
  print_json(json);
}

} // namespace batchscope::cli
