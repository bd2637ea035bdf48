#include "ui/plan/planner.h"

#include <functional>

#include "core/base/error.h"
#include "core/run/model_spec.h"
#include "core/run/run_plan.h"
#include "ui/threads/latest_task.h"

namespace batchscope::ui {

namespace {

/// Limit for interactive plans: about a second, and some hundred megabytes at worst.
constexpr std::int64_t max_steps = 2'000'000;

} // namespace

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
      request.max_steps = max_steps;
      const auto made = schedule::make_plan(request, [&] { return progress.replaced(); });
      if (!made)
        return;
      auto plan = std::make_shared<const schedule::Plan>(*made);
      progress.post([this, plan] { Q_EMIT planner_.planned(plan); });
    } catch (const std::exception& error) {
      progress.post([this, what = QString::fromUtf8(error.what())] { Q_EMIT planner_.refused(what); });
    }
  }

  schedule::PlanRequest request_of(const DraftPlan& draft) {
    check(draft.spec);
    schedule::PlanRequest request;
    const data::ExampleCounts examples = data_->count(draft.spec.data, run::data_options(draft.spec));
    request.options = run::progression_options(draft.spec, examples, draft.batch);
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
