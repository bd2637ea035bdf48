#include "core/job/job.h"

#include <limits>

#include <fmt/format.h>

#include "core/base/error.h"
#include "core/base/file_output.h"
#include "core/base/json.h"
#include "core/base/text.h"
#include "core/base/utc.h"
#include "core/checkpoint/folder.h"
#include "core/job/adopt.h"
#include "core/job/apply_command.h"
#include "core/job/resume.h"
#include "core/job/retry_transient.h"
#include "core/run/automatic_batch.h"
#include "core/run/run_plan.h"
#include "core/run/spec_keys.h"
#include "core/search/run_search.h"
#include "core/store/run_follower.h"
#include "core/store/run_store.h"
#include "core/telemetry/in_order.h"
#include "core/telemetry/outcome_fields.h"

namespace batchscope::job {

namespace {

/// Passes the run's reports to the store and to the job's Watch, and ends the run early if asked to.
class Tee : public telemetry::Sink {
public:
  Tee(telemetry::Sink& first, telemetry::Sink& second, const RunOptions& options, run::RunControl& control)
      : first_(first), second_(second), options_(options), control_(control) {}

  void record(const telemetry::StepRecord& record) override {
    first_.record(record);
    second_.record(record);
    if (!options_.end_early || !reason_.empty())
      return;
    if (const auto reason = options_.end_early(record)) {
      reason_ = *reason;
      control_.stop();
    }
  }
  void event(telemetry::Event event) override {
    first_.event(event);
    second_.event(std::move(event));
  }
  /// Why the run was ended early; empty if it was not.
  const std::string& reason() const { return reason_; }

private:
  telemetry::Sink& first_;
  telemetry::Sink& second_;
  const RunOptions& options_;
  run::RunControl& control_;
  std::string reason_;
};

/// The search has no size for the choice.
Error no_size(const run::BatchChoice& choice, const search::SearchResult& result) {
  const auto error = [](const std::string& message, const char* field) {
    return Error(Error::Kind::failed, message, field);
  };
  if (!result.found)
    return error("no batch size was found: " + result.reason, "batch");
  if (choice.kind == run::BatchChoice::Kind::safe)
    return error("no batch size leaves the margin of the memory budget free; accepted: a larger --memory-budget, or "
                 "--batch auto:largest",
                 "margin");
  return error("throughput could not be measured: the batch sizes found no longer fit; accepted: --batch "
               "with a number, "
               "auto:safe or auto:largest",
               "batch");
}

bool needs_timings(const run::BatchChoice& choice) {
  return choice.kind == run::BatchChoice::Kind::recommended || choice.kind == run::BatchChoice::Kind::automatic;
}

/// Equal for specs with the same answer to a search. The device's free memory, the default budget, does not count: runs
/// of one job take the same share of the same size.
std::string search_key(const run::RunSpec& spec) {
  // Throughput may depend on more than memory does.
  return fmt::format("{} {} {} {}", needs_timings(spec.batch) ? "timed " + run::trial_key(spec) : run::memory_key(spec),
                     spec.memory_budget.value_or(0), spec.max_batch.value_or(0), spec.margin);
}

/// All of it: its records go on where they ended.
store::ResumedRun resumed_run(const Adoptable& adoptable) {
  return {.run = adoptable.row.id,
          .steps = std::numeric_limits<std::int64_t>::max(),
          .events = adoptable.left.events,
          .progress = adoptable.left.progress};
}

store::ResumedRun resumed_run(const Resumable& resumable) {
  const checkpoint::Label& label = resumable.checkpoint.label;
  return {.run = resumable.row.id,
          .steps = label.step,
          .events = label.events,
          .progress = telemetry::run_progress_from_json(parse_json(resumable.checkpoint.text("progress")))};
}

/// Damaged ones that were passed over: the run comes to their steps again.
void remove_later_checkpoints(const Resumable& resumable) {
  std::error_code ignored;
  for (const checkpoint::File& file : checkpoint::files_in(resumable.folder))
    if (file.step > resumable.checkpoint.label.step)
      std::filesystem::remove(file.path, ignored);
}

void report_history(const std::filesystem::path& database, std::int64_t run, Watch& watch) {
  constexpr std::size_t at_once = 10'000;
  store::RunFollower follower(database, run);
  store::RunFollower::Update update;
  do {
    update = follower.poll(at_once);
    telemetry::in_order(
        update.records, std::move(update.events),
        [&watch](const telemetry::StepRecord& record) { watch.record(record); },
        [&watch](telemetry::Event event) { watch.event(std::move(event)); });
  } while (update.more);
}

std::string began(const RunOptions& options) {
  if (options.resumed)
    return options.resumed->row.started;
  return options.adopted ? options.adopted->row.started : utc_now();
}

} // namespace

const search::SearchResult* KnownSearches::find(const run::RunSpec& spec) const {
  const auto found = results_.find(search_key(spec));
  return found == results_.end() ? nullptr : &found->second;
}

void KnownSearches::add(const run::RunSpec& spec, const search::SearchResult& result) {
  results_[search_key(spec)] = result;
}

namespace {

std::int64_t examples_in_epoch(const run::Session& session) {
  return data::examples_in_epoch(run::sampler_options(session.spec(), data::count_examples(*session.data().train)));
}

} // namespace

void check_can_begin(const run::RunSpec& spec) {
  if (!spec.save.empty())
    about_field("save", [&] { check_new_file(spec.save); });
  if (spec.batch.kind != run::BatchChoice::Kind::number && schedule::first_batch_of(spec.schedule))
    throw input_error("--schedule: " + in_quotes(spec.schedule) + " sets the first batch, but --batch " +
                          run::to_string(spec.batch) + " searches for it; accepted: --batch with that number",
                      "schedule");
}

std::optional<search::SearchResult> choose_batch(run::Session& session, store::RunStore& store, Watch& watch,
                                                 const run::JobControl& control, KnownSearches* known) {
  const run::RunSpec& spec = session.spec();
  check_can_begin(spec);
  const run::BatchChoice choice = spec.batch;
  if (choice.kind == run::BatchChoice::Kind::number)
    return std::nullopt;
  const auto choose = [&](const search::SearchResult& result) {
    const auto batch = run::answer_to(choice, result);
    if (!batch)
      throw no_size(choice, result);
    session.choose_batch(*batch, run::reason_for(spec, result, examples_in_epoch(session)));
  };
  if (const search::SearchResult* result = known ? known->find(spec) : nullptr) {
    choose(*result);
    return std::nullopt;
  }
  run::Session::SearchOptions options;
  options.margin = spec.margin;
  options.timings = needs_timings(choice);
  options.on_timing = [&](const search::Timing& timing) { watch.timing(timing); };
  options.stop = [&] { return control.stopping(); };
  const std::uint64_t budget = session.budget_bytes();
  auto result = session.find(options, [&](const search::Probe& probe) { watch.probe(probe, budget); });
  if (result.interrupted) {
    if (!result.probes.empty())
      store_search(spec, result, store, watch, control);
    throw Error(Error::Kind::failed, "stopped");
  }
  if (known)
    known->add(spec, result);
  choose(result);
  return result;
}

std::optional<StoredSearch> search_and_store(const run::RunSpec& spec, run::Session::SearchOptions options,
                                             std::uint64_t budget_bytes, const Find& find, store::RunStore& store,
                                             Watch& watch, const run::JobControl& control) {
  options.on_timing = [&](const search::Timing& timing) { watch.timing(timing); };
  options.stop = [&] { return control.stopping(); };
  StoredSearch stored;
  try {
    stored.result = find(options, [&](const search::Probe& probe) { watch.probe(probe, budget_bytes); });
  } catch (const Error&) {
    if (!control.stopping())
      throw;
    return std::nullopt; // before the first size
  }
  if (stored.result.interrupted && stored.result.probes.empty())
    return std::nullopt;
  stored.id = store_search(spec, stored.result, store, watch, control);
  return stored;
}

std::int64_t store_search(const run::RunSpec& spec, const search::SearchResult& result, store::RunStore& store,
                          Watch& watch, const run::JobControl& control) {
  std::int64_t id = 0;
  retry_transient(watch, control, [&] { id = store.add_search(run::to_json(spec), search::to_json(result)); });
  watch.search_stored(id);
  return id;
}

JobResult run_and_store(run::Source& source, const run::RunSpec& spec,
                        const std::optional<search::SearchResult>& search, store::RunStore& store,
                        const RunOptions& options, Watch& watch, const std::shared_ptr<run::JobControl>& control) {
  const auto own = std::make_shared<run::RunControl>(control);
  const run::Environment environment = source.environment();
  JobResult job;
  const bool goes_on = options.resumed || options.adopted;
  if (spec.program && !goes_on)
    adopt_ended(store, control);
  job.start = options.resumed ? options.resumed->start : source.start();
  if (search)
    job.start.memory = search->memory;
  if (!job.start.memory && !goes_on && watch.wants_prediction())
    job.start.memory = source.predict_memory([&] { return control->stopping(); });
  if (search)
    job.search = store_search(spec, *search, store, watch, *control);
  if (!goes_on)
    job.start.search = job.search;
  store::NewRun run;
  run.name = spec.name;
  run.spec_json = run::to_json(spec);
  run.sweep = options.sweep;
  run.claimed = options.claimed;
  if (job.start.batch > 0) // a program may know it only later
    run.batch = job.start.batch;
  run.start_json = run::to_json(job.start);
  run.environment_json = run::to_json(environment);
  run.on_command = [own, control](const store::Command& command) { apply_command(*own, *control, command); };
  run.on_trouble = [&watch](const std::string& why) { watch.not_stored(why); };
  run.on_notice = [&watch](const std::string& what) { watch.files_replaced(what); };
  run.ending = [own] { return own->stopping(); };
  if (options.resumed)
    run.resumed = resumed_run(*options.resumed);
  else if (options.adopted)
    run.resumed = resumed_run(*options.adopted);
  std::unique_ptr<store::RunWriter> writer;
  retry_transient(watch, *control, [&] { writer = store.begin(run); });
  job.id = writer->id();
  watch.started({.id = job.id, .spec = spec, .start = job.start, .began = began(options), .control = own});
  if (options.resumed)
    remove_later_checkpoints(*options.resumed);
  if (goes_on && watch.wants_history())
    report_history(store.file(), job.id, watch);
  source.set_place({.run = job.id,
                    .uid = writer->uid(),
                    .database = store.file(),
                    .spec_json = run.spec_json,
                    .compared = options.sweep.has_value(),
                    .flush = [&store] { store.flush(); },
                    .stored = [&writer] { return writer->stored(); },
                    .start_changed =
                        [&](run::RunStart start) {
                          start.memory = job.start.memory;
                          start.search = job.start.search;
                          job.start = std::move(start);
                          writer->set_start(run::to_json(job.start));
                          watch.start_changed(job.id, job.start);
                        }});
  Tee tee(writer->sink(), watch, options, *own);
  if (options.first_event)
    tee.event({.step = 0, .seconds = 0, .body = *options.first_event});
  job.outcome = source.run(tee, *own);
  if (job.outcome.status == telemetry::RunStatus::stopped)
    job.outcome.reason = tee.reason();
  retry_transient(watch, *control, [&] { writer->finish(job.outcome); });
  source.stored();
  watch.ended(job.id, job.outcome);
  return job;
}

} // namespace batchscope::job
