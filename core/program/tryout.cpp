#include "core/program/tryout.h"

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <mutex>
#include <thread>

#include "core/base/json.h"
#include "core/base/median.h"
#include "core/program/detail/program_folder.h"
#include "core/program/output.h"
#include "core/program/program_source.h"

namespace batchscope::program {

namespace {

constexpr std::int64_t least_steps = 3;
/// A program that was asked for another size takes it after so many steps, or, if its steps are short, so long.
constexpr std::int64_t steps_to_change = 4;
constexpr double seconds_to_change = 5;
constexpr auto look_interval = std::chrono::milliseconds(50);

using Clock = std::chrono::steady_clock;

double passed_since(Clock::time_point from) {
  return std::chrono::duration<double>(Clock::now() - from).count();
}

/// Follows the program and decides when it has shown enough. Used by the thread of the run, except where noted.
class Observer final : public telemetry::Sink {
public:
  Observer(const run::ProgramSpec& program, run::RunControl& control, std::function<void(const Tryout&)> on_progress)
      : enough_(std::max(program.probe_steps, least_steps)), control_(control), on_progress_(std::move(on_progress)) {}

  void start_changed(const run::RunStart& start) {
    if (start.program->level == 0)
      return; // it has begun, but has not said anything
    tryout_.level = start.program->level;
    tryout_.framework = start.program->framework;
    if (start.train_examples > 0)
      tryout_.examples = start.train_examples;
    progressed();
  }

  void record(const telemetry::StepRecord& record) override {
    ++tryout_.steps;
    if (record.peak_bytes > 0)
      tryout_.peak_bytes = std::max(tryout_.peak_bytes.value_or(0), static_cast<std::uint64_t>(record.peak_bytes));
    note_time(record.seconds);
    note_batch(record.batch);
    progressed();
    if (tryout_.steps >= enough_ && !changing())
      control_.stop();
  }

  void event(telemetry::Event event) override {
    const Json detail = parse_json_or_discard(event.detail_json);
    const auto text = [&](const char* name) {
      return detail.is_object() && detail.value(name, Json()).is_string() ? detail[name].get<std::string>()
                                                                          : std::string();
    };
    if (event.kind == "level")
      tryout_.limited_by = text("reason");
    if (event.kind == "lint" && !text("text").empty())
      tryout_.remarks.push_back(text("text"));
  }

  /// Any thread: whether it has neither connected nor reported a step.
  bool silent() const { return silent_; }
  /// After the run.
  Tryout finished() {
    if (step_seconds_.size() > 1)
      tryout_.step_seconds = median({step_seconds_.begin() + 1, step_seconds_.end()});
    return std::move(tryout_);
  }

private:
  void note_time(double seconds) {
    if (last_seconds_)
      step_seconds_.push_back(seconds - *last_seconds_);
    last_seconds_ = seconds;
  }

  bool changing() const {
    return asked_at_ && !tryout_.changed_batch &&
           (tryout_.steps < enough_ + steps_to_change || passed_since(*asked_at_) < seconds_to_change);
  }

  void note_batch(std::int64_t batch) {
    if (batch < 1)
      return;
    if (!tryout_.batch) {
      tryout_.batch = batch;
      const std::int64_t other = batch > 1 ? batch / 2 : 2;
      if (tryout_.level >= 2 && control_.edit({.schedule = "constant", .batch = other}))
        asked_at_ = Clock::now();
    } else if (asked_at_ && batch != *tryout_.batch) {
      tryout_.changed_batch = batch;
    }
  }

  void progressed() {
    silent_ = false;
    if (on_progress_)
      on_progress_(tryout_);
  }

  const std::int64_t enough_; ///< steps
  run::RunControl& control_;
  const std::function<void(const Tryout&)> on_progress_;
  Tryout tryout_;
  std::optional<Clock::time_point> asked_at_; ///< for another size
  std::optional<double> last_seconds_;
  std::vector<double> step_seconds_;
  std::atomic<bool> silent_{true};
};

/// Calls `look` from time to time on a thread of its own until it is destroyed.
class Lookout {
public:
  explicit Lookout(std::function<void()> look) : thread_([this, look = std::move(look)] { work(look); }) {}
  ~Lookout() {
    {
      const std::lock_guard lock(mutex_);
      over_ = true;
    }
    changed_.notify_one();
    thread_.join();
  }

private:
  void work(const std::function<void()>& look) {
    std::unique_lock lock(mutex_);
    while (!changed_.wait_for(lock, look_interval, [this] { return over_; }))
      look();
  }

  std::mutex mutex_;
  std::condition_variable changed_;
  bool over_ = false; ///< guarded by mutex_
  std::thread thread_;
};

/// A folder that is removed at the end.
struct Scratch {
  ~Scratch() {
    std::error_code ignored;
    std::filesystem::remove_all(folder.path(), ignored);
  }
  std::string uid;
  ProgramFolder folder = ProgramFolder::temporary(uid);
};

} // namespace

Tryout try_out(const run::RunSpec& spec, double silent_seconds, const std::function<bool()>& stop,
               const std::function<void(const Tryout&)>& on_progress) {
  const auto began = Clock::now();
  const auto source = open_program(spec);
  const Scratch scratch;
  run::RunControl control;
  Observer observer(*spec.program, control, on_progress);
  const std::filesystem::path database = scratch.folder.path() / "test";
  source->set_place({.run = 0,
                     .uid = scratch.uid,
                     .database = database,
                     .spec_json = {},
                     .flush = {},
                     .start_changed = [&](const run::RunStart& start) { observer.start_changed(start); }});
  telemetry::RunOutcome outcome;
  {
    const Lookout lookout([&] {
      if (stop() || (observer.silent() && passed_since(began) > silent_seconds))
        control.stop();
    });
    outcome = source->run(observer, control);
  }
  Tryout tryout = observer.finished();
  tryout.seconds = passed_since(began);
  tryout.status = outcome.status;
  tryout.reason = outcome.reason;
  if (!tryout.peak_bytes)
    tryout.peak_bytes = source->peak();
  tryout.output = OutputFollower(ProgramFolder(folder_of_program(database, scratch.uid)).output()).tail();
  return tryout;
}

} // namespace batchscope::program
