#pragma once

#include <QTest>

#include <condition_variable>
#include <filesystem>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "core/base/json.h"
#include "core/job/job.h"
#include "core/program/run/program_source.h"
#include "core/store/run_follower.h"
#include "core/store/run_reader.h"
#include "core/store/run_store.h"
#include "tests/core/store/store_test.h"
#include "tests/test_events.h"

namespace batchscope::test {

/// Python programs with the client and its pretended loader (tests/python/pretended_loader.py). With wait_for() they
/// wait for a file, so that a test decides when steps are made.
inline constexpr const char* pretended_loader = R"(
import batchscope, os, sys, time
from pretended_loader import Sizes, tracer

def wait_for(name):
    while not os.path.exists(os.path.join(sys.argv[1], name)):
        time.sleep(0.005)

run = batchscope.start(name="pretended", config={"lr": 0.1})
)";

/// One whose batch size can be set before it begins: what follows `pretended_loader`.
inline constexpr const char* pretended_stream = R"(
run._describe(can=("first batch",), batch=8)
run._greet(wait=True)
run._watched_batch = run._told_size.get("batch", 8)
for step in range(6):
    run.step(loss=1)
)";

/// Waits until the condition holds; false after a long time.
template <typename Condition> bool wait_until(const Condition& condition) {
  for (int i = 0; i < 60'000; ++i) {
    if (condition())
      return true;
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
  return false;
}

/// A folder with a database, in which programs are run and stored as jobs.
class ProgramRuns {
public:
  ProgramRuns() {
    qputenv("XDG_RUNTIME_DIR", runtime_.path().toUtf8());
    qputenv("PYTHONPATH", BATCHSCOPE_SOURCE_DIR "/resources/python:" BATCHSCOPE_SOURCE_DIR "/tests/python");
    qputenv("PYTHONDONTWRITEBYTECODE", "1");
  }

  std::filesystem::path file() const { return folder_.file(); }
  std::filesystem::path path(const std::string& name) const { return folder_.path() / name; }
  /// What a program waits for with wait_for(name).
  void allow(const std::string& name) const { std::ofstream(path(name)) << "\n"; }

  run::RunSpec python(const std::string& source) const {
    return command({"python3", "-c", source, folder_.path().string()});
  }
  run::RunSpec loader(const std::string& source) const { return python(pretended_loader + source); }
  run::RunSpec command(const std::vector<std::string>& words) const {
    run::RunSpec spec;
    spec.program = run::ProgramSpec{.command = words};
    return spec;
  }

  /// Files and folders left in the folder of sockets.
  std::size_t sockets_left() const {
    std::error_code ignored;
    return static_cast<std::size_t>(
        std::distance(std::filesystem::directory_iterator(runtime_.path().toStdString(), ignored), {}));
  }

private:
  store::test::Folder folder_;
  QTemporaryDir runtime_;
};

/// A job on a thread of its own, which a test steers and waits for.
class ProgramJob final : public job::Watch {
public:
  ProgramJob(const ProgramRuns& runs, const run::RunSpec& spec)
      : store_(runs.file()), source_(program::open_program(spec)),
        thread_([this, spec] { result = job::run_and_store(*source_, spec, {}, store_, {}, *this, job_); }) {}
  ~ProgramJob() override {
    if (thread_.joinable()) {
      job_->stop();
      thread_.join();
    }
  }

  /// Waits for its end.
  telemetry::RunOutcome end() {
    thread_.join();
    return result.outcome;
  }
  void wait_for_step(std::int64_t step) {
    wait([this, step] { return step_ >= step; });
  }
  void wait_for_event(const std::string& kind, const std::string& text = {}) {
    wait([&] {
      for (const telemetry::Event& event : events_)
        if (kind_text(event) == kind && detail_text(event).find(text) != std::string::npos)
          return true;
      return false;
    });
  }
  std::int64_t step() const {
    const std::lock_guard lock(mutex_);
    return step_;
  }
  run::RunControl& control() {
    wait([this] { return control_ != nullptr; });
    return *control_;
  }
  run::JobControl& job() { return *job_; }
  const program::ProgramRun& source() const { return *source_; }

  job::JobResult result; ///< after end()

private:
  void started(const job::StartedRun& run) override {
    set([&] { control_ = run.control; });
  }
  void record(const telemetry::StepRecord& record) override {
    set([&] { step_ = record.step; });
  }
  void event(telemetry::Event event) override {
    set([&] { events_.push_back(std::move(event)); });
  }
  void set(const std::function<void()>& change) {
    const std::lock_guard lock(mutex_);
    change();
    changed_.notify_all();
  }
  void wait(const std::function<bool()>& condition) {
    std::unique_lock lock(mutex_);
    QVERIFY(changed_.wait_for(lock, std::chrono::minutes(2), condition));
  }

  store::RunStore store_;
  std::unique_ptr<program::ProgramRun> source_;
  const std::shared_ptr<run::JobControl> job_ = std::make_shared<run::JobControl>();
  mutable std::mutex mutex_;
  std::condition_variable changed_;
  std::shared_ptr<run::RunControl> control_;
  std::int64_t step_ = 0;
  std::vector<telemetry::Event> events_;
  std::thread thread_; ///< last: it uses the others
};

/// What a database has of a run.
struct Stored {
  Stored(const std::filesystem::path& file, std::int64_t run) {
    store::RunFollower follower(file, run);
    for (bool more = true; more;) {
      auto update = follower.poll();
      for (const telemetry::StepRecord& record : update.records)
        records.push_back(record);
      for (const telemetry::Event& event : update.events)
        events.push_back(event);
      row = update.row;
      more = update.more;
    }
    start = run::stored_start(store::RunReader(file).start_json(run));
  }

  std::vector<std::int64_t> steps() const {
    std::vector<std::int64_t> steps;
    for (const telemetry::StepRecord& record : records)
      steps.push_back(record.step);
    return steps;
  }
  std::vector<Json> of(const std::string& kind) const {
    std::vector<Json> found;
    for (const telemetry::Event& event : events)
      if (kind_text(event) == kind)
        found.push_back(parse_json(detail_text(event)));
    return found;
  }

  std::vector<telemetry::StepRecord> records;
  std::vector<telemetry::Event> events;
  store::RunRow row;
  run::RunStart start;
};

inline std::vector<std::int64_t> one_to(std::int64_t last) {
  std::vector<std::int64_t> steps;
  for (std::int64_t step = 1; step <= last; ++step)
    steps.push_back(step);
  return steps;
}

} // namespace batchscope::test
