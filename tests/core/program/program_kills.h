#pragma once

#include <csignal>
#include <fstream>
#include <functional>
#include <random>
#include <string>
#include <thread>
#include <vector>

#include <QTest>

#include "core/job/adopt.h"
#include "core/program/trial/program_search.h"
#include "core/store/run_reader.h"
#include "core/store/run_store.h"
#include "tests/core/program/program_runs.h"
#include "tests/core/store/second_process.h"

/// Runs of programs of which one side is killed as by `kill -9` at random moments.
namespace batchscope::test {

/// Reports steps until the file `finish` is there, and prints each one once it was sent, and the last.
inline constexpr const char* endless_reports = R"(
import batchscope, os, sys, time
batchscope.RECONNECT_EVERY = 0.01
run = batchscope.start()
step = 0
while not os.path.exists(os.path.join(sys.argv[1], "finish")):
    step += 1
    run.report(step, loss=1 / step)
    if step % 50 == 0:
        run.event("fifty", n=step)
    if not run._link._unsent:
        print(step)
    time.sleep(0.0005)
print(step)
)";

/// Is killed when its run is over, before the outcome is stored.
class DyingRun final : public run::Source {
public:
  explicit DyingRun(run::Source& source) : source_(source) {}
  run::RunStart start() const override { return source_.start(); }
  run::Environment environment() const override { return source_.environment(); }
  void set_place(const run::RunPlace& place) override {
    flush_ = place.flush;
    source_.set_place(place);
  }
  telemetry::RunOutcome run(telemetry::Sink& sink, run::RunControl& control) override {
    telemetry::RunOutcome outcome = source_.run(sink, control);
    flush_();
    raise(SIGKILL);
    return outcome;
  }

private:
  run::Source& source_;
  std::function<void()> flush_;
};

/// TestFile::before: `--run FILE SPEC`, `--adopt FILE RUN` and `--find SPEC` do what the command line does; `--die FILE
/// SPEC` ends before the outcome of a run is stored.
inline int run_program_if_asked(int count, char** arguments) {
  const std::vector<std::string> given(arguments + 1, arguments + count);
  if (given.empty() || !given[0].starts_with("--"))
    return -1;
  if (given[0] == "--find") {
    program::find_batch(program::search_spec(run::run_spec_from_json(given.at(1))), {}, {}, {});
    return 0;
  }
  job::Watch nobody;
  const auto control = std::make_shared<run::JobControl>();
  store::RunStore store(given.at(1));
  if (given[0] != "--adopt") {
    const run::RunSpec spec = run::run_spec_from_json(given.at(2));
    const auto source = program::open_program(spec);
    DyingRun dying(*source);
    run::Source& run = given[0] == "--die" ? static_cast<run::Source&>(dying) : *source;
    job::run_and_store(run, spec, {}, store, {}, nobody, control);
  } else {
    job::adopt_and_store(job::find_adoptable(given.at(1), std::stoll(given.at(2))), store, nobody, control);
  }
  return 0;
}

/// The last step that the program had reported, by what it printed.
inline std::int64_t last_printed(const std::filesystem::path& output) {
  std::ifstream stream(output);
  std::int64_t last = 0, step = 0;
  while (stream >> step)
    last = step;
  return last;
}

/// Waits until a run of the database has a program, and returns where its output goes.
inline std::filesystem::path output_of_first_run(const ProgramRuns& runs) {
  std::filesystem::path output;
  wait_until([&] {
    std::error_code ignored;
    for (const auto& entry : std::filesystem::directory_iterator(runs.file().string() + "-programs", ignored))
      if (std::filesystem::exists(entry.path() / "process.json", ignored) && last_printed(entry.path() / "output") > 0)
        output = entry.path() / "output";
    return !output.empty();
  });
  return output;
}

inline void wait_a_moment(std::mt19937& random, int most_ms) {
  std::this_thread::sleep_for(std::chrono::milliseconds(random() % static_cast<unsigned>(most_ms)));
}

/// BatchScope is killed so many times while the program goes on; no step is lost.
inline void kill_batchscope(int kills, std::uint32_t seed) {
  const ProgramRuns runs;
  std::mt19937 random(seed);
  const std::string spec = run::to_json(runs.python(endless_reports), -1);
  std::filesystem::path output;
  {
    store::test::SecondProcess first({"--run", runs.file().string(), spec});
    output = output_of_first_run(runs);
    QVERIFY(!output.empty());
    wait_a_moment(random, 400);
    first.kill();
    QCOMPARE(first.wait(), 128 + SIGKILL);
  }
  for (int i = 1; i < kills; ++i) {
    store::test::SecondProcess next({"--adopt", runs.file().string(), "1"});
    wait_a_moment(random, 400);
    next.kill();
    QCOMPARE(next.wait(), 128 + SIGKILL);
  }
  runs.allow("finish");
  QCOMPARE(store::test::SecondProcess({"--adopt", runs.file().string(), "1"}).wait(), 0);
  const Stored run(runs.file(), 1);
  QCOMPARE(telemetry::to_string(run.row.outcome.status), std::string("finished"));
  const std::int64_t last = last_printed(output);
  QCOMPARE(run.steps(), one_to(last));
  for (const telemetry::StepRecord& record : run.records)
    QCOMPARE(record.loss, 1 / static_cast<double>(record.step));
  QCOMPARE(static_cast<std::int64_t>(run.of("fifty").size()), last / 50);
  QCOMPARE(runs.sockets_left(), 0U);
  QVERIFY(!std::filesystem::exists(output.parent_path() / "spill"));
  QCOMPARE(store::RunReader(runs.file()).check(), std::vector<std::string>());
}

/// The program is killed at a random moment; all that it had sent is stored.
inline void kill_program(std::uint32_t seed) {
  const ProgramRuns runs;
  std::mt19937 random(seed);
  ProgramJob job(runs, runs.python(endless_reports));
  job.wait_for_step(1);
  wait_a_moment(random, 100);
  ::kill(static_cast<pid_t>(job.source().pid()), SIGKILL);
  QCOMPARE(telemetry::to_string(job.end().status), std::string("failed"));
  const Stored run(runs.file(), job.result.id);
  QVERIFY(static_cast<std::int64_t>(run.records.size()) >= last_printed(run.start.program->output));
  QCOMPARE(run.steps(), one_to(static_cast<std::int64_t>(run.records.size())));
  QCOMPARE(runs.sockets_left(), 0U);
}

} // namespace batchscope::test
