#include "ui/jobs/job_watch.h"

#include <QLocale>

#include <algorithm>
#include <utility>

#include "core/search/run_search.h"

namespace batchscope::ui {

namespace {

/// A slow UI must never block a training loop: entries that it has not taken stay in memory.
constexpr std::size_t no_limit = SIZE_MAX;
/// A prediction is drawn up to this multiple of the largest size that was run.
constexpr std::int64_t margin_beyond_probes = 64;

QString count(std::int64_t value) {
  return QLocale().toString(static_cast<qlonglong>(value));
}

} // namespace

JobWatch::JobWatch(Job& job, std::shared_ptr<run::JobControl> control, UiQueue& reports)
    : job_(job), control_(std::move(control)), reports_(reports) {}

void JobWatch::post(std::function<void(Job&)> change) {
  reports_.post([job = &job_, change = std::move(change)] { change(*job); });
}

void JobWatch::say(const QString& activity) {
  {
    const std::lock_guard lock(mutex_);
    activity_ = activity;
  }
  show(activity);
}

void JobWatch::not_stored(const std::string& why) {
  QString before;
  {
    const std::lock_guard lock(mutex_);
    before = activity_;
  }
  show(why.empty() ? before : Job::tr("Not saved yet; retrying: %1").arg(QString::fromStdString(why)));
}

void JobWatch::show(const QString& activity) {
  post([activity](Job& job) {
    job.activity_ = activity;
    Q_EMIT job.progressed();
  });
}

void JobWatch::begin_search() {
  farthest_ = 1;
  drawn_ = true;
  probes_.clear();
}

void JobWatch::probe(const search::Probe& probe, std::uint64_t budget_bytes) {
  probes_.push_back(probe);
  const QString came_to = probe.outcome == search::Outcome::fits            ? Job::tr("fits")
                          : probe.outcome == search::Outcome::out_of_memory ? Job::tr("runs out of memory")
                                                                            : Job::tr("failed");
  say(Job::tr("trial %1: batch size %2 %3").arg(probes_.size()).arg(count(probe.batch), came_to));
  if (!drawn_)
    return;
  // A program for which every size fits is asked for ever larger ones.
  farthest_ = std::max(farthest_, margin_beyond_probes * std::min(probe.batch, INT64_MAX / margin_beyond_probes));
  const auto curve = search::curve_of(probes_, farthest_);
  search::Probe shown = probe;
  shown.trace.reset(); // megabytes that only the prediction needs
  post([shown, curve, budget_bytes](Job& job) {
    job.probes_.push_back(shown);
    job.predicted_ = curve ? curve : job.predicted_;
    job.budget_ = budget_bytes;
    Q_EMIT job.probed();
  });
}

void JobWatch::timing(const search::Timing& timing) {
  say(Job::tr("timed batch size %1").arg(count(timing.batch)));
  if (!drawn_)
    return;
  post([timing](Job& job) {
    const auto known = std::find_if(job.timings_.begin(), job.timings_.end(),
                                    [&](const search::Timing& other) { return other.batch == timing.batch; });
    if (known == job.timings_.end())
      job.timings_.push_back(timing);
    else
      *known = timing;
    Q_EMIT job.timed();
  });
}

void JobWatch::search_stored(std::int64_t id) {
  post([id](Job& job) {
    job.stored_search_ = id;
    Q_EMIT job.search_stored();
  });
}

void JobWatch::answered(const compare::Answer& answer) {
  post([answer](Job& job) { job.answer_ = answer; });
}

void JobWatch::found(const search::SearchResult& result) {
  auto shared = std::make_shared<search::SearchResult>(result);
  for (auto* probes : {&shared->probes, &shared->checks})
    for (auto& probe : *probes)
      probe.trace.reset();
  post([shared](Job& job) {
    job.search_result_ = shared;
    Q_EMIT job.searched();
  });
}

void JobWatch::predicted(const predict::PeakCurve& curve) {
  post([curve](Job& job) {
    job.predicted_ = curve;
    Q_EMIT job.probed();
  });
}

void JobWatch::trying(const program::Tryout& so_far) {
  const QString framework = so_far.start ? QString::fromStdString(so_far.start->program->framework) : QString();
  say(so_far.steps == 1     ? Job::tr("1 step")
      : so_far.steps > 1    ? Job::tr("%1 steps").arg(count(so_far.steps))
      : framework.isEmpty() ? Job::tr("The program has connected, no step yet")
                            : Job::tr("Connected: %1, no step yet").arg(framework));
}

void JobWatch::tried(const program::Tryout& tried) {
  post([shared = std::make_shared<const program::Tryout>(tried)](Job& job) { job.tried_ = shared; });
}

void JobWatch::fitted(const search::SearchResult& result, const std::vector<program::CardSaving>& savings) {
  post(
      [shared = std::make_shared<const Job::Fitted>(Job::Fitted{result, savings})](Job& job) { job.fitted_ = shared; });
}

void JobWatch::limit(std::uint64_t budget_bytes) {
  post([budget_bytes](Job& job) { job.budget_ = budget_bytes; });
}

void JobWatch::started(const job::StartedRun& run) {
  auto queue = std::make_shared<telemetry::RecordQueue>(no_limit);
  queue_ = queue;
  step_ = 0;
  expected_steps_ = run.start.expected_steps.value_or(0);
  const QString running = run.start.batch > 0 ? Job::tr("run %1, batch size %2").arg(run.id).arg(count(run.start.batch))
                                              : Job::tr("run %1, the program is starting").arg(run.id);
  const QString reason = QString::fromStdString(run.start.batch_reason);
  say(reason.isEmpty() ? running : QStringLiteral("%1: %2").arg(running, reason));
  // The message holds the run and its queue until a receiver has taken them.
  post([live = Job::LiveRun{run, std::move(queue)}](Job& job) {
    job.runs_.insert(live.id);
    Q_EMIT job.run_started(live);
  });
}

void JobWatch::start_changed(std::int64_t id, const run::RunStart& start) {
  expected_steps_ = start.expected_steps.value_or(0);
  if (start.batch > 0)
    say(Job::tr("run %1, batch size %2").arg(id).arg(count(start.batch)));
  post([id, start](Job& job) { Q_EMIT job.start_changed(id, start); });
}

void JobWatch::record(const telemetry::StepRecord& record) {
  step_.store(record.step, std::memory_order_relaxed);
  if (const auto queue = queue_.lock())
    queue->record(record);
}

void JobWatch::event(telemetry::Event event) {
  if (const auto queue = queue_.lock())
    queue->event(std::move(event));
}

void JobWatch::ended(std::int64_t id, const telemetry::RunOutcome& outcome) {
  queue_.reset();
  ++part_;
  step_ = 0;
  const QString status = QString::fromStdString(telemetry::to_string(outcome.status));
  const QString reason = QString::fromStdString(outcome.reason);
  post([id, status, reason](Job& job) { Q_EMIT job.run_ended(id, status, reason); });
}

void JobWatch::sweep_began(std::int64_t sweep) {
  post([sweep](Job& job) {
    job.sweep_ = sweep;
    Q_EMIT job.sweep_began();
  });
}

void JobWatch::combination(std::size_t index, std::size_t count, const run::RunSpec& /*spec*/) {
  const std::int64_t after = job_.kind() == Job::Kind::demo ? sweep::demo_schedules : 0;
  part_ = static_cast<std::int64_t>(index);
  parts_ = static_cast<std::int64_t>(count) + after;
  say(Job::tr("run %1 of %2").arg(index + 1).arg(count));
}

void JobWatch::searched(sweep::DemoStage stage, const search::SearchResult& result) {
  if (stage == sweep::DemoStage::search)
    found(result);
}

void JobWatch::stage(sweep::DemoStage stage) {
  switch (stage) {
  case sweep::DemoStage::search:
    parts_ = 0;
    begin_search();
    return say(Job::tr("searching for the batch size"));
  case sweep::DemoStage::bisection:
    drawn_ = false;
    probes_.clear();
    return say(Job::tr("repeating the search by bisection"));
  case sweep::DemoStage::sweep:
    return say(Job::tr("sweeping over batch sizes"));
  case sweep::DemoStage::growing:
    return say(Job::tr("training with a growing batch size"));
  case sweep::DemoStage::greedy:
    return say(Job::tr("training with a schedule that exceeds the memory budget"));
  }
}

std::optional<double> JobWatch::progress() const {
  const std::int64_t parts = parts_;
  const std::int64_t expected = expected_steps_;
  if (parts == 0 || expected == 0)
    return std::nullopt;
  const double part = std::min(static_cast<double>(step_) / static_cast<double>(expected), 1.0);
  return std::min((static_cast<double>(part_) + part) / static_cast<double>(parts), 1.0);
}

} // namespace batchscope::ui
