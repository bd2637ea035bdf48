#include "app/cli/sweep_waiting.h"

#include <algorithm>
#include <string>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "app/cli/output.h"
#include "core/base/error.h"
#include "core/store/run_reader.h"
#include "core/store/run_store.h"
#include "core/store/sweep_queue.h"

namespace batchscope::cli {

namespace {

/// Opens the queue of the sweep whose runs these are. Refuses runs that do not wait in it.
class Queue {
public:
  Queue(const char* option, const std::vector<std::int64_t>& runs, const Context& context)
      : reader_(context.database()), sweep_(sweep_of(option, runs)), store_(context.database()),
        queue_(store_, sweep_) {
    const auto waiting = this->waiting();
    for (const std::int64_t run : runs)
      if (std::find(waiting.begin(), waiting.end(), run) == waiting.end())
        refuse(option, run);
  }

  store::SweepQueue& operator*() { return queue_; }
  store::SweepQueue* operator->() { return &queue_; }
  std::int64_t sweep() const { return sweep_; }
  std::vector<std::int64_t> waiting() const { return reader_.waiting_runs(sweep_); }

private:
  std::int64_t sweep_of(const char* option, const std::vector<std::int64_t>& runs) const {
    const auto sweep = reader_.run(runs.front()).sweep;
    for (const std::int64_t run : runs) {
      if (!reader_.run(run).sweep)
        refuse(option, run);
      if (reader_.run(run).sweep != sweep)
        throw input_error(fmt::format("{}: runs {} and {} belong to different sweeps; accepted: runs of one sweep",
                                      option, runs.front(), run));
    }
    return *sweep;
  }

  [[noreturn]] void refuse(const char* option, std::int64_t run) const {
    const auto row = reader_.run(run);
    const std::string why = !row.sweep ? "belongs to no sweep"
                            : row.outcome.status == telemetry::RunStatus::queued
                                ? "is being prepared by a worker already"
                                : "is " + telemetry::to_string(row.outcome.status);
    throw input_error(
        fmt::format("{}: run {} {}; accepted: runs that wait (list --where 'status = queued')", option, run, why));
  }

  store::RunReader reader_;
  const std::int64_t sweep_;
  store::RunStore store_;
  store::SweepQueue queue_;
};

} // namespace

int skip_waiting(const std::vector<std::int64_t>& runs, const Context& context) {
  Queue queue("--skip", runs, context);
  const std::int64_t skipped = queue->skip(runs, "skipped");
  if (skipped < static_cast<std::int64_t>(runs.size()))
    throw Error(Error::Kind::failed, fmt::format("--skip: a worker took {} of the runs in the meantime; see list",
                                                 static_cast<std::int64_t>(runs.size()) - skipped));
  if (context.json)
    print_json({{"sweep", queue.sweep()}, {"skipped", runs}});
  else
    print(fmt::format("sweep {}: skipped {}\n", queue.sweep(), fmt::join(runs, ", ")));
  return exit_status::done;
}

int put_first(const std::vector<std::int64_t>& runs, const Context& context) {
  Queue queue("--first", runs, context);
  for (auto run = runs.rbegin(); run != runs.rend(); ++run)
    if (const auto order = queue.waiting(); !order.empty())
      queue->move(*run, order.front());
  const auto order = queue.waiting();
  if (context.json)
    print_json({{"sweep", queue.sweep()}, {"order", order}});
  else
    print(fmt::format("sweep {}: next {}\n", queue.sweep(), fmt::join(order, ", ")));
  return exit_status::done;
}

} // namespace batchscope::cli
