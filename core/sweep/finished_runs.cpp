#include "core/sweep/finished_runs.h"

#include "core/base/error.h"
#include "core/run/run_plan.h"
#include "core/run/run_spec.h"
#include "core/store/run_reader.h"

namespace batchscope::sweep {

FinishedRuns::FinishedRuns(const std::filesystem::path& database, std::int64_t sweep,
                           const std::optional<std::chrono::milliseconds>& interval)
    : database_(database), sweep_(sweep) {
  if (interval)
    thread_ = std::thread([this, interval] { work(*interval); });
}

FinishedRuns::~FinishedRuns() {
  {
    const std::lock_guard lock(mutex_);
    closing_ = true;
  }
  changed_.notify_all();
  if (thread_.joinable())
    thread_.join();
}

void FinishedRuns::work(std::chrono::milliseconds interval) {
  std::unique_lock lock(mutex_);
  while (!changed_.wait_for(lock, interval, [this] { return closing_; })) {
    lock.unlock();
    refresh();
    lock.lock();
  }
}

void FinishedRuns::refresh() {
  const std::lock_guard reading(reading_);
  try {
    read_changes();
  } catch (const Error&) {
    // The database is locked, or the run was deleted: runs are compared with fewer until the next time.
  }
  if (is_known_)
    return;
  is_known_ = true;
  auto runs = std::make_shared<WeakRuns>();
  for (const auto& [id, curve] : curves_)
    runs->add_finished(curve);
  const std::lock_guard lock(mutex_);
  known_ = std::move(runs);
}

std::shared_ptr<const WeakRuns> FinishedRuns::known() const {
  const std::lock_guard lock(mutex_);
  return known_;
}

void FinishedRuns::read_changes() {
  if (!reader_)
    reader_ = std::make_unique<store::RunReader>(database_);
  const store::ListChanges changes = reader_->changes(cursor_);
  for (const store::RunRow& row : changes.rows)
    if (row.sweep == sweep_ && row.outcome.status == telemetry::RunStatus::finished && curves_.count(row.id) == 0)
      unread_.insert(row.id);
  for (const std::int64_t run : changes.removed) {
    unread_.erase(run);
    is_known_ = curves_.erase(run) == 0 && is_known_;
  }
  while (!unread_.empty()) {
    curves_.emplace(*unread_.begin(), curve_of(*unread_.begin()));
    unread_.erase(unread_.begin());
    is_known_ = false;
  }
}

LossCurve FinishedRuns::curve_of(std::int64_t run) const {
  const schedule::RunLength length = run::countable_length(run::stored_spec_from_json(reader_->spec_json(run)),
                                                           reader_->run(run).outcome.batch.value_or(0));
  LossCurve curve(length);
  const auto losses = reader_->series(run, "loss");
  // How far a step was follows from its number, or from the series in which the run's length is given.
  const auto done = length.steps ? losses : reader_->series(run, length.examples ? "examples_seen" : "epoch");
  for (std::size_t i = 0; i < std::min(losses.size(), done.size()); ++i) {
    telemetry::StepRecord record;
    record.step = losses[i].step;
    record.examples_seen = length.examples ? static_cast<std::int64_t>(done[i].value) : 0;
    record.epoch = done[i].value;
    record.loss = losses[i].value;
    curve.take(record);
  }
  return curve;
}

} // namespace batchscope::sweep
