#include "ui/plan/planner.h"

#include <algorithm>
#include <functional>
#include <string>

#include "core/base/error.h"
#include "core/base/saturated.h"
#include "core/program/process/command.h"
#include "core/program/run/steering.h"
#include "core/run/model_spec.h"
#include "core/run/run_plan.h"
#include "ui/threads/latest_task.h"

namespace batchscope::ui {

namespace {

/// Limit for interactive plans: about a second, and some hundred megabytes at worst.
constexpr std::int64_t max_steps = 2'000'000;
/// Steps that are known beyond the drawn ones, where a training has no end: a change can be undone after so many.
constexpr std::int64_t steps_beyond = 20'000;

void check_first_batch(const run::ProgramSpec& program, const run::BatchChoice& batch) {
  if (batch.kind == run::BatchChoice::Kind::number && !program::takes_batch(program))
    throw input_error("batch " + std::to_string(batch.number) +
                      ": this program begins with its own size; to begin with another, put {batch} into its command or "
                      "attach to its Trainer or loader");
}

} // namespace

run::RunSpec DraftPlan::run_spec() const {
  run::RunSpec run = spec;
  const bool own_size = told && run.batch.kind != run::BatchChoice::Kind::number && told->batch == batch;
  if (!own_size)
    run.batch = {run::BatchChoice::Kind::number, batch};
  return run;
}

bool has_end(const run::RunStart& start) {
  return !start.program || start.program->length != schedule::RunLength();
}

std::int64_t steps_to_plan(const run::RunStart& start, std::int64_t done) {
  constexpr std::int64_t least = 100;
  constexpr std::int64_t epochs = 3;
  constexpr std::int64_t most_for_epochs = 10'000;
  if (has_end(start))
    return max_steps;
  const std::int64_t in_step = std::max<std::int64_t>(
      1, saturated_product(saturated_product(start.batch, start.accumulate), start.program->ranks));
  const std::int64_t in_epoch = start.train_examples / in_step + 1;
  return std::min(max_steps, done + std::max({least, done, std::min(epochs * in_epoch, most_for_epochs)}));
}

class Planner::Impl {
public:
  Impl(Planner& planner, std::shared_ptr<data::DataPool> data)
      : planner_(planner), data_(data ? std::move(data) : std::make_shared<data::DataPool>()) {}

  void request(const schedule::PlanRequest& request) {
    task_.start([this, request](const LatestTask::Progress& progress) { work([&] { return request; }, progress); });
  }
  void request(const DraftPlan& draft) {
    task_.start(
        [this, draft](const LatestTask::Progress& progress) { work([&] { return request_of(draft); }, progress); });
  }
  void cancel() { task_.cancel(); }

private:
  void work(const std::function<schedule::PlanRequest()>& make_request, const LatestTask::Progress& progress) {
    try {
      schedule::PlanRequest request = make_request();
      const auto plan = plan_of(request, progress);
      auto further = plan;
      if (plan && plan->cut && request.max_steps < max_steps) {
        request.max_steps += steps_beyond;
        further = plan_of(request, progress);
      }
      if (plan && further)
        progress.post([this, plan, further] { Q_EMIT planner_.planned(plan, further); });
    } catch (const std::exception& error) {
      progress.post([this, what = QString::fromUtf8(error.what())] { Q_EMIT planner_.refused(what); });
    }
  }

  /// Null if it is not wanted any more.
  static std::shared_ptr<const schedule::Plan> plan_of(const schedule::PlanRequest& request,
                                                       const LatestTask::Progress& progress) {
    auto plan = schedule::make_plan(request, [&] { return progress.replaced(); });
    return plan ? std::make_shared<const schedule::Plan>(*std::move(plan)) : nullptr;
  }

  schedule::PlanRequest request_of(const DraftPlan& draft) {
    const run::RunSpec spec = draft.run_spec();
    check(spec);
    schedule::PlanRequest request;
    if (draft.told) {
      check_first_batch(*spec.program, spec.batch);
      run::RunStart start = *draft.told;
      start.batch = draft.batch;
      request.options = run::progression_options(spec, start);
      request.max_steps = steps_to_plan(start, 0);
      program::check_followable(schedule::Progression(request.options), start);
      return request;
    }
    request.max_steps = max_steps;
    const data::ExampleCounts examples = data_->count(spec.data, run::data_options(spec));
    request.options = run::progression_options(spec, examples, draft.batch);
    return request;
  }

  Planner& planner_;
  const std::shared_ptr<data::DataPool> data_;
  LatestTask task_; ///< last: its thread uses the others
};

Planner::Planner(std::shared_ptr<data::DataPool> data, QObject* parent)
    : QObject(parent), impl_(std::make_unique<Impl>(*this, std::move(data))) {}
Planner::~Planner() = default;

void Planner::request(const schedule::PlanRequest& request) {
  impl_->request(request);
}

void Planner::request(const DraftPlan& draft) {
  impl_->request(draft);
}

void Planner::cancel() {
  impl_->cancel();
}

} // namespace batchscope::ui

#include "moc_planner.cpp"
