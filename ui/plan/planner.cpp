#include "ui/plan/planner.h"

#include <atomic>
#include <condition_variable>
#include <mutex>
#include <thread>
#include <variant>

#include "core/base/error.h"
#include "core/run/model_spec.h"
#include "core/run/run_plan.h"
#include "ui/threads/ui_queue.h"

namespace batchscope::ui {

namespace {

/// Limit for interactive plans: about a second, and some hundred megabytes at worst.
constexpr std::int64_t max_steps = 2'000'000;

} // namespace

/// The planning thread. Only the newest request waits; a request in progress is cancelled for it.
class Planner::Impl {
public:
  Impl(Planner& planner, std::shared_ptr<data::DataPool> data)
      : planner_(planner), data_(data ? std::move(data) : std::make_shared<data::DataPool>()),
        thread_([this] { loop(); }) {}

  ~Impl() {
    {
      const std::lock_guard lock(mutex_);
      closing_ = true;
      ++newest_;
    }
    wake_.notify_one();
    thread_.join();
  }

  void request(std::variant<schedule::PlanRequest, DraftPlan> request) {
    {
      const std::lock_guard lock(mutex_);
      waiting_ = std::move(request);
      ++newest_;
    }
    wake_.notify_one();
  }

  void cancel() {
    const std::lock_guard lock(mutex_);
    waiting_.reset();
    ++newest_;
  }

private:
  using Request = std::variant<schedule::PlanRequest, DraftPlan>;

  void loop() {
    while (true) {
      std::optional<Request> request;
      std::uint64_t number = 0;
      {
        std::unique_lock lock(mutex_);
        wake_.wait(lock, [this] { return closing_ || waiting_; });
        if (closing_)
          return;
        request.swap(waiting_);
        number = newest_;
      }
      work(*request, number);
    }
  }

  void work(const Request& request, std::uint64_t number) {
    try {
      const auto* draft = std::get_if<DraftPlan>(&request);
      schedule::PlanRequest wanted = draft != nullptr ? request_of(*draft) : std::get<0>(request);
      wanted.max_steps = max_steps;
      const auto made = schedule::make_plan(wanted, [&] { return newest_ != number; });
      if (!made)
        return;
      auto plan = std::make_shared<const schedule::Plan>(*made);
      post(number, [this, plan] { Q_EMIT planner_.planned(plan); });
    } catch (const std::exception& error) {
      post(number, [this, what = QString::fromUtf8(error.what())] { Q_EMIT planner_.refused(what); });
    }
  }

  schedule::PlanRequest request_of(const DraftPlan& draft) {
    check(draft.spec);
    schedule::PlanRequest request;
    const run::ModelSpec model = run::parse_model(draft.spec.model);
    const std::int64_t examples = data_->train_examples(draft.spec.data, {.context = model.context()});
    request.options = run::progression_options(draft.spec, examples, draft.batch);
    return request;
  }

  /// Does not report a result that was replaced meanwhile.
  void post(std::uint64_t number, std::function<void()> tell) {
    results_.post([this, number, tell = std::move(tell)] {
      if (newest_ == number)
        tell();
    });
  }

  Planner& planner_;
  const std::shared_ptr<data::DataPool> data_;
  UiQueue results_;

  std::mutex mutex_;
  std::condition_variable wake_;
  std::optional<Request> waiting_; ///< guarded by mutex_
  bool closing_ = false;           ///< guarded by mutex_
  std::atomic<std::uint64_t> newest_{0};

  std::thread thread_; ///< last: it uses all of the above
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
