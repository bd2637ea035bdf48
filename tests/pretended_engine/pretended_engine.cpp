// An engine without LibTorch, under the name of the real one: under the thread sanitizer, for which LibTorch is not
// built, the program's threads do with it what they do with the real one. It follows the schedule and obeys its
// control; it computes nothing.
#include <chrono>
#include <cmath>
#include <thread>
#include <utility>

#include "core/base/error.h"
#include "core/run/apply_edit.h"
#include "core/run/detail/engine_library.h"
#include "core/run/engine.h"
#include "core/run/run_plan.h"
#include "core/schedule/planned_record.h"
#include "core/search/run_search.h"

namespace {

using namespace batchscope;

constexpr std::int64_t largest_that_fits = 20;
constexpr std::uint64_t budget = 10'000'000;

/// Runs at most this fast, so that commands find it under way.
constexpr std::chrono::microseconds step_duration{200};

class PretendedSession final : public run::Session {
public:
  PretendedSession(const run::RunSpec& spec, const std::shared_ptr<data::DataPool>& pool)
      : spec_((check(spec), spec)), data_(pool ? pool->open(spec.data, {}) : data::open_data(spec.data, {})) {
    if (spec_.batch.kind == run::BatchChoice::Kind::number)
      batch_ = spec_.batch.number;
  }

  const run::RunSpec& spec() const override { return spec_; }
  std::int64_t examples() const override { return data_.train->size(); }
  const data::DataSplit& data() const override { return data_; }
  std::int64_t largest_batch() const override { return examples(); }
  std::uint64_t budget_bytes() const override { return budget; }
  run::Environment environment() const override { return run::environment_here(); }

  search::SearchResult find(const SearchOptions& options, const ProbeSink& on_probe) override {
    search::FinderOptions wanted;
    wanted.max_batch = largest_batch();
    const auto finder = search::make_finder("binary", wanted);
    search::SimulatedDevice device(largest_that_fits);
    search::SearchResult result = search::run_search(*finder, device, wanted, on_probe);
    for (const std::int64_t batch : {*result.largest / 2, *result.largest}) {
      result.timings.push_back({.batch = batch, .seconds = 1, .examples_per_second = static_cast<double>(batch)});
      if (options.on_timing)
        options.on_timing(result.timings.back());
    }
    result.recommended = result.automatic = result.largest;
    return result;
  }

  std::optional<predict::PeakCurve> predict_memory(const std::function<bool()>& /*stop*/) override {
    return std::nullopt;
  }

  void choose_batch(std::int64_t batch, const std::string& /*reason*/) override { batch_ = batch; }
  void restore(const checkpoint::Checkpoint& /*checkpoint*/, const telemetry::Resumed& /*report*/) override {
    throw Error(Error::Kind::unavailable, "the pretended engine has no checkpoints");
  }

  run::RunStart start() const override {
    const run::RunPlan plan = run::plan_run(spec_, data::count_examples(*data_.train), *batch_);
    run::RunStart start;
    start.batch = *batch_;
    start.train_examples = examples();
    start.streams = data_.train->streams();
    start.budget_bytes = budget;
    start.expected_steps = plan.steps;
    return start;
  }

  telemetry::RunOutcome run(telemetry::Sink& sink, run::RunControl& control) override {
    schedule::Progression progression(run::progression_options(spec_, data::count_examples(*data_.train), *batch_));
    telemetry::RunProgress progress(telemetry::RunStatus::running, batch_);
    telemetry::RunStatus status = telemetry::RunStatus::finished;
    while (true) {
      const auto requests = control.at_boundary([&] { report_paused(true, progression, sink); });
      if (!requests.paused)
        report_paused(false, progression, sink);
      if (requests.stop) {
        status = telemetry::RunStatus::stopped;
        break;
      }
      for (const run::ScheduleEdit& edit : requests.edits)
        apply(edit, progression, sink);
      const auto step = progression.next();
      if (!step)
        break;
      std::this_thread::sleep_for(step_duration);
      progression.done({.loss = 1, .vram_fraction = 0.5, .tokens = 0});
      const telemetry::StepRecord record = record_of(*step);
      progress.take(record);
      sink.record(record);
    }
    control.close();
    telemetry::RunOutcome outcome = progress.outcome();
    outcome.status = status;
    return outcome;
  }

private:
  static void send(telemetry::Sink& sink, const schedule::Progression& progression, telemetry::EventBody body) {
    sink.event({.step = progression.steps_done(), .body = std::move(body)});
  }

  void report_paused(bool paused, const schedule::Progression& progression, telemetry::Sink& sink) {
    using Status = telemetry::StatusChange::Status;
    if (paused != std::exchange(reported_paused_, paused))
      send(sink, progression, telemetry::StatusChange{.status = paused ? Status::paused : Status::running});
  }

  static void apply(const run::ScheduleEdit& edit, schedule::Progression& progression, telemetry::Sink& sink) {
    send(sink, progression, run::apply_edit(edit, progression));
  }

  static telemetry::StepRecord record_of(const schedule::PlannedStep& step) {
    telemetry::StepRecord record = schedule::planned_record(step);
    record.loss = 1 / std::sqrt(static_cast<double>(step.step));
    record.grad_norm = 1;
    record.seconds = static_cast<double>(step.step) / 1000;
    return record;
  }

  run::RunSpec spec_;
  data::DataSplit data_;
  std::optional<std::int64_t> batch_;
  bool reported_paused_ = false;
};

/// A step that needs 100 kB for the model and 10 kB for each example.
class PretendedDryRun final : public run::DryRun {
public:
  telemetry::Trace trace(std::int64_t batch) override {
    telemetry::Trace trace;
    trace.batch = batch;
    trace.start_bytes = 100'000;
    const auto bytes = static_cast<std::uint64_t>(batch) * 10'000;
    trace.events = {{0, true, telemetry::Phase::forward, bytes}, {0, false, telemetry::Phase::backward, bytes}};
    trace.peak_bytes = trace.start_bytes + bytes;
    return trace;
  }
  std::int64_t parameter_count() override { return 1000; }
  std::int64_t largest_whole_batch() const override { return INT64_MAX; }
  bool complete() const override { return true; }
};

class PretendedEngine final : public run::Engine {
public:
  std::unique_ptr<run::Session> open_session(const run::RunSpec& spec,
                                             const std::shared_ptr<data::DataPool>& pool) override {
    return std::make_unique<PretendedSession>(spec, pool);
  }
  std::unique_ptr<run::DryRun> dry_run(const run::RunSpec& /*spec*/, const data::ExampleShape& /*shape*/,
                                       std::int64_t /*examples*/, Workspace /*workspace*/) override {
    return std::make_unique<PretendedDryRun>();
  }
  run::CardSteps card_steps(const run::CardQuestion& /*question*/) override {
    throw Error(Error::Kind::unavailable, "no GPU can be pretended without LibTorch");
  }
  int threads() const override { return 1; }
};

} // namespace

extern "C" [[gnu::visibility("default")]] batchscope::run::Engine* batchscope_engine() {
  static PretendedEngine engine;
  return &engine;
}
