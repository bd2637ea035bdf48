#pragma once

#include <chrono>
#include <csignal>
#include <filesystem>
#include <random>
#include <string>
#include <thread>
#include <vector>

#include <QTest>

#include "core/checkpoint/folder.h"
#include "core/job/job.h"
#include "core/job/resume.h"
#include "core/run/engine.h"
#include "core/store/run_reader.h"
#include "core/store/run_store.h"
#include "core/telemetry/series_info.h"
#include "tests/core/checkpoint/checkpoint_test.h"
#include "tests/core/store/second_process.h"
#include "tests/core/store/store_test.h"
#include "tests/test_events.h"

/// Runs that are killed as by `kill -9` and resumed, each attempt in a process of its own.
namespace batchscope::job::test {

struct KilledSpec {
  const char* name;
  const char* json; ///< on top of the common settings
};

inline const std::vector<KilledSpec>& killed_specs() {
  static const std::vector<KilledSpec> specs = {
      {"dropout, evaluations", R"({"dropout": 0.2, "evaluate_every": 7, "lr_decay": "cosine", "warmup": "10"})"},
      {"an edit while it runs, sgd", R"({"name": "edited", "optimizer": "sgd", "schedule": "step:interval=6"})"},
      {"back-off, the budget changed",
       R"({"name": "budget", "memory_budget": 1500000, "batch": 100, "schedule": "linear:max=400", "dropout": 0.1})"},
      {"batch norm, adam", R"({"model": "cnn:width=8,norm=batch", "optimizer": "adam", "effective_batch": 50})"},
      {"noise", R"({"schedule": "noise:every=5", "noise_every": 2, "dropout": 0.1})"},
      {"lines", R"({"model": "gpt:layers=1,heads=2,width=16,context=24", "data": "lines:LICENSE", "batch": 16,
                    "group_by_length": true})"},
      {"streams",
       R"({"data": "a=synthetic:examples=625,shape=1x16x16,classes=4,b=synthetic:examples=90,shape=1x16x16,classes=4",
                      "shares": "loss:a=0.6,b=0.4", "dropout": 0.1})"},
  };
  return specs;
}

constexpr std::int64_t killed_run_steps = 60;

inline run::RunSpec killed_spec(std::size_t row) {
  run::RunSpec spec;
  spec.model = "cnn:width=8";
  spec.data = "synthetic:examples=625,shape=1x16x16,classes=4";
  spec.memory_budget = 400'000'000;
  spec.batch = {run::BatchChoice::Kind::number, 20};
  spec.length = {.epochs = {}, .examples = {}, .steps = killed_run_steps};
  spec.checkpoint_every = 2;
  std::string json = killed_specs().at(row).json;
  if (const auto at = json.find("LICENSE"); at != std::string::npos)
    json.replace(at, std::string("LICENSE").size(), BATCHSCOPE_SOURCE_DIR "/LICENSE");
  if (const auto at = json.find("interval=6"); at != std::string::npos)
    json.replace(at, std::string("interval=6").size(), "interval=6,increment=2");
  return run::run_spec_from_json(json, spec);
}

/// Kills its own process after a step of the run, once there is a checkpoint; edits the schedule of the run `edited`
/// and the budget of the run `budget`.
class Killer : public Watch {
public:
  Killer(std::filesystem::path checkpoints, std::int64_t step) : checkpoints_(std::move(checkpoints)), step_(step) {}

  void started(const StartedRun& run) override {
    control_ = run.control;
    edits_ = run.spec.name == "edited";
    changes_budget_ = run.spec.name == "budget";
  }
  void record(const telemetry::StepRecord& record) override {
    if (changes_budget_ && record.step == edited_after)
      control_->set_budget({.bytes = 1'200'000});
    if (edits_ && record.step == edited_after &&
        !control_->edit({.schedule = "edited:30-40=25,base=linear:max=70", .batch = 33}))
      std::abort();
    if (record.step != step_)
      return;
    while (!has_checkpoint())
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
    std::raise(SIGKILL);
  }

private:
  static constexpr std::int64_t edited_after = 23;

  bool has_checkpoint() const {
    std::error_code ignored;
    for (const auto& entry : std::filesystem::recursive_directory_iterator(checkpoints_, ignored))
      if (entry.path().extension() == ".safetensors" && entry.path().filename().string().starts_with("step-"))
        return true;
    return false;
  }

  std::filesystem::path checkpoints_;
  std::int64_t step_;
  std::shared_ptr<run::RunControl> control_;
  bool edits_ = false, changes_budget_ = false;
};

/// TestFile::before: `--train FILE ROW STEP` and `--resume FILE STEP` train and are killed after that step; 0: never.
inline int train_if_asked(int count, char** arguments) {
  const std::vector<std::string> given(arguments + 1, arguments + count);
  if (given.empty() || (given[0] != "--train" && given[0] != "--resume"))
    return -1;
  const std::filesystem::path file = given.at(1);
  Killer killer(file.string() + "-checkpoints", std::stoll(given.back()));
  const auto control = std::make_shared<run::JobControl>();
  JobResult result;
  if (given[0] == "--train") {
    const run::RunSpec spec = killed_spec(std::stoul(given.at(2)));
    const auto session = run::open_session(spec);
    store::RunStore store(file);
    result = run_and_store(*session, spec, std::nullopt, store, {}, killer, control);
  } else {
    Resumable resumable = find_resumable(file, 1);
    const auto session = open_resumed(resumable);
    store::RunStore store(file);
    const RunOptions options{.sweep = {}, .claimed = {}, .end_early = {}, .resumed = &resumable};
    result = run_and_store(*session, resumable.spec, std::nullopt, store, options, killer, control);
  }
  return result.outcome.status == telemetry::RunStatus::finished ? 0 : 1;
}

inline int train_in_process(const std::vector<std::string>& arguments) {
  return store::test::SecondProcess(arguments).wait();
}

/// The events that a run reports whether it was interrupted or not.
inline std::vector<std::string> events_of(const store::RunReader& reader) {
  std::vector<std::string> events;
  for (const telemetry::Event& event : reader.events(1))
    if (batchscope::test::kind_text(event) != "checkpoint" && batchscope::test::kind_text(event) != "resumed")
      events.push_back(
          batchscope::test::kind_text(event) + ' ' + std::to_string(event.step) + ' ' +
          (batchscope::test::kind_text(event) == "oom" ? std::string() : batchscope::test::detail_text(event)));
  return events;
}

/// The series that say the same whatever the machine does besides.
inline std::vector<std::string> names_of_learnt(const store::RunReader& reader) {
  std::vector<std::string> names = reader.series_names(1);
  std::erase_if(names, [](const std::string& name) {
    return name.ends_with("seconds") || name == telemetry::tokens_per_second || name == telemetry::disturbed ||
           name == "reserved_bytes";
  });
  return names;
}

/// Compares two finished runs bit for bit, apart from their times.
inline void compare_runs(const std::filesystem::path& file, const std::filesystem::path& whole) {
  const store::RunReader a(file), b(whole);
  QCOMPARE(a.run(1).outcome.status, telemetry::RunStatus::finished);
  QCOMPARE(events_of(a), events_of(b));
  const std::vector<std::string> names = names_of_learnt(b);
  QCOMPARE(names_of_learnt(a), names);
  for (const std::string& name : names) {
    const auto points = a.series(1, name), others = b.series(1, name);
    QCOMPARE(points.size(), others.size());
    for (std::size_t i = 0; i < points.size(); ++i)
      QVERIFY2(points[i].step == others[i].step && store::test::same(points[i].value, others[i].value),
               qPrintable(QString::fromStdString(name + " at step " + std::to_string(points[i].step))));
  }
  const auto last = [](const std::filesystem::path& database, const store::RunReader& reader) {
    return checkpoint::read(checkpoint::files_in(checkpoint::folder_of_run(database, reader.run(1).uid)).at(0).path);
  };
  QCOMPARE(QString::fromStdString(checkpoint::test::difference(last(file, a), last(whole, b))), QString());
  QCOMPARE(a.check(), std::vector<std::string>{});
}

/// A run that is killed so many times against one that is not.
inline void kill_and_compare(std::size_t row, int kills, std::uint32_t seed) {
  const store::test::Folder folder;
  const auto whole = folder.file("whole.db"), file = folder.file("killed.db");
  QCOMPARE(train_in_process({"--train", whole.string(), std::to_string(row), "0"}), 0);
  std::mt19937 random(seed);
  constexpr int killed = 128 + SIGKILL;
  std::int64_t from = 0; // the checkpoint
  for (int i = 0; i < kills; ++i) {
    // After the first step of which a checkpoint may have been written, and early enough for the kills that follow.
    const std::int64_t first = std::max<std::int64_t>(from + 1, 3);
    const auto choices = std::max<std::int64_t>((killed_run_steps - first) / (kills - i), 3);
    const std::string step = std::to_string(first + static_cast<std::int64_t>(random()) % choices);
    if (i == 0)
      QCOMPARE(train_in_process({"--train", file.string(), std::to_string(row), step}), killed);
    else
      QCOMPARE(train_in_process({"--resume", file.string(), step}), killed);
    const store::RunReader reader(file);
    QCOMPARE(reader.run(1).outcome.status, telemetry::RunStatus::interrupted);
    from = checkpoint::files_in(checkpoint::folder_of_run(file, reader.run(1).uid)).at(0).step;
    QVERIFY(from <= reader.run(1).outcome.steps);
  }
  QCOMPARE(train_in_process({"--resume", file.string(), "0"}), 0);
  compare_runs(file, whole);
}

} // namespace batchscope::job::test
