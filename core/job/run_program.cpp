#include "core/job/run_program.h"

#include <algorithm>
#include <map>
#include <set>
#include <string>
#include <utility>

#include "core/program/process/command.h"
#include "core/store/run_store.h"
#include "core/telemetry/message.h"

namespace batchscope::job {

namespace {

/// Sizes of a run's micro batches, in examples.
struct Sizes {
  std::set<std::int64_t> fitted;
  std::int64_t last = 0; ///< 0: no step was made

  void take(const telemetry::StepRecord& record) {
    last = record.micro_batch > 0 ? record.micro_batch : record.batch;
    if (last > 0)
      fitted.insert(last);
  }
  /// The largest below a size that did not fit; else half of it; 0 if there is none.
  std::int64_t below(std::int64_t size) const {
    const auto next = fitted.lower_bound(size);
    return next == fitted.begin() ? size / 2 : *std::prev(next);
  }
};

bool takes_size(const run::RunSpec& spec, const JobResult& job) {
  return program::placeholders_of(*spec.program).contains("batch") ||
         (job.start.program && (job.start.program->level >= 2 || job.start.program->first_batch));
}

/// The size that did not fit; 0 if it is not known, or the size of a step has no part in it.
std::int64_t attempted_in(const ProgramJob& ended, const Sizes& sizes) {
  const auto& shortage = ended.source->shortage();
  if (!shortage || shortage->where == telemetry::OutOfMemory::Where::evaluation)
    return 0;
  return shortage->attempted_batch.value_or(sizes.last > 0 ? sizes.last : ended.job.start.batch);
}

/// The spec with a batch that does not exceed this one. `first`: the batch that the run has begun with.
run::RunSpec with_batch(run::RunSpec spec, std::int64_t batch, std::int64_t first) {
  if (spec.schedule != "constant")
    spec.max_batch = std::min(spec.max_batch.value_or(batch), batch);
  if (spec.schedule == "constant" || first < 1 || first > batch)
    spec.batch = {.kind = run::BatchChoice::Kind::number, .number = batch};
  return spec;
}

telemetry::EventBody started_again(const JobResult& ended, std::int64_t attempted, std::int64_t batch) {
  std::map<std::string, telemetry::Value> args{{"run", ended.id}, {"attempted", attempted}, {"batch", batch}};
  if (ended.outcome.steps > 0)
    args["steps"] = static_cast<std::int64_t>(ended.outcome.steps);
  return telemetry::Lint{telemetry::because(telemetry::Words::started_again, std::move(args))};
}

} // namespace

ProgramJob run_program(const run::RunSpec& spec, const program::Surroundings& surroundings, store::RunStore& store,
                       Watch& watch, const std::shared_ptr<run::JobControl>& control) {
  run::RunSpec present = spec;
  RunOptions options;
  while (true) {
    Sizes sizes;
    options.end_early = [&sizes](const telemetry::StepRecord& record) -> std::optional<std::string> {
      sizes.take(record);
      return std::nullopt;
    };
    ProgramJob ended;
    ended.source = program::open_program(present, surroundings);
    ended.job = run_and_store(*ended.source, present, std::nullopt, store, options, watch, control);
    const bool again = spec.on_oom == run::OnOom::restart && ended.source->verdict().out_of_memory &&
                       !control->stopping() && takes_size(present, ended.job);
    const std::int64_t attempted = again ? attempted_in(ended, sizes) : 0;
    const std::int64_t batch = sizes.below(attempted);
    if (batch < 1)
      return ended;
    options.first_event = started_again(ended.job, attempted, batch);
    present = with_batch(std::move(present), batch, ended.job.start.batch);
  }
}

} // namespace batchscope::job
