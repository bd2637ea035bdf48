#include <QTemporaryDir>
#include <QTest>

#include <fstream>

#include "core/base/error.h"
#include "core/checkpoint/folder.h"
#include "core/telemetry/series_info.h"
#include "run_helpers.h"
#include "test_program.h"
#include "tests/core/checkpoint/checkpoint_test.h"

using namespace batchscope;
using namespace batchscope::run;

namespace fs = std::filesystem;

namespace {

constexpr std::int64_t steps = 30;
const std::string uid(32, 'a');

/// Edits the schedule after some steps, and stops the run after one.
struct Steered : Recorded {
  Steered(RunControl& control, std::int64_t stop_after) : control(control), stop_after(stop_after) {}
  void record(const telemetry::StepRecord& record) override {
    Recorded::record(record);
    if (record.step == 8)
      edited = control.edit({.schedule = "edited:12-16=25,base=step:interval=4,increment=3", .batch = 15});
    if (record.step == 18)
      edited = control.edit({.schedule = "linear:max=90"});
    if (record.step == 9 && new_budget > 0)
      edited = control.set_budget({.bytes = new_budget});
    if (record.step == stop_after)
      control.stop();
  }
  RunControl& control;
  std::uint64_t new_budget = 0;
  std::int64_t stop_after;
  bool edited = false;
};

std::vector<checkpoint::File> checkpoints_in(const fs::path& folder) {
  return checkpoint::files_in(checkpoint::folder_of_run(folder / "runs.db", uid));
}

/// Runs to the end, or until it is stopped, from the newest checkpoint in the folder if `resume`.
std::vector<telemetry::StepRecord> run_part(const RunSpec& spec, const fs::path& folder, std::int64_t stop_after,
                                            bool resume, Recorded* seen = nullptr) {
  RunControl control;
  Steered steered(control, stop_after);
  steered.new_budget = spec.name == "budget" ? 1'200'000 : 0;
  const auto session = open_session(spec);
  if (resume)
    session->restore(checkpoint::read(checkpoints_in(folder).at(0).path), {});
  session->set_place(
      {.run = 1, .uid = uid, .database = folder / "runs.db", .spec_json = {}, .flush = {}, .start_changed = {}});
  session->run(steered, control);
  if (seen)
    *seen = steered;
  return steered.records;
}

/// Further series without those of time.
std::vector<std::pair<std::string, double>> further(const telemetry::StepRecord& record) {
  auto more = record.more;
  std::erase_if(more, [](const auto& series) {
    return series.first == telemetry::tokens_per_second || series.first == telemetry::disturbed ||
           series.first == telemetry::ran_seconds || series.first == telemetry::waited_seconds;
  });
  return more;
}

bool same_bits(const telemetry::StepRecord& a, const telemetry::StepRecord& b) {
  return a.step == b.step && a.loss == b.loss && a.grad_norm == b.grad_norm && a.examples_seen == b.examples_seen &&
         a.batch == b.batch && a.micro_batch == b.micro_batch && a.micro_batches == b.micro_batches &&
         a.learning_rate == b.learning_rate && a.peak_bytes == b.peak_bytes && further(a) == further(b);
}

std::string difference(const fs::path& a, const fs::path& b) {
  return checkpoint::test::difference(checkpoint::read(checkpoints_in(a).at(0).path),
                                      checkpoint::read(checkpoints_in(b).at(0).path));
}

/// The losses of a run's evaluations.
QList<double> evaluations(const Recorded& run) {
  QList<double> losses;
  for (const Json& detail : run.details("evaluation"))
    losses += detail["loss"].get<double>();
  return losses;
}

RunSpec checkpointed_spec(std::int64_t batch) {
  RunSpec spec = small_spec(batch, steps);
  spec.checkpoint_every = 1000; // at the end and at the best evaluations
  return spec;
}

std::string message_of(const std::function<void()>& call) {
  try {
    call();
  } catch (const Error& error) {
    return error.kind() == Error::Kind::input ? error.what() : "another kind of error";
  }
  return {};
}

} // namespace

/// A run that was stopped and goes on in a new session makes the same bits as one that never stopped.
class TestResume : public QObject {
  Q_OBJECT

private Q_SLOTS:
  void theSameBits_data() {
    QTest::addColumn<QString>("json");
    QTest::addColumn<bool>("runs_out_of_memory");
    const auto row = [](const char* name, const char* json, bool runs_out = false) {
      QTest::newRow(name) << QString(json) << runs_out;
    };
    row("dropout, adamw", R"({"dropout": 0.2, "evaluate_every": 4, "lr_decay": "cosine", "warmup": "10"})");
    if (test::sanitized)
      return;
    row("batch norm, sgd, an effective batch",
        R"({"model": "cnn:width=8,norm=batch", "optimizer": "sgd", "effective_batch": 50, "drop_last": true})");
    row("adam, the linear rule, regularization that follows",
        R"({"optimizer": "adam", "lr_rule": "linear", "dropout": 0.1, "regularization_rule": "sqrt", "clip": 0.5})");
    row("a formula of what is measured",
        R"({"optimizer": "sgd", "momentum": 0, "schedule": "formula:10 + 40 * vram_fraction + loss_ema"})");
    row("adascale, noise, plateau",
        R"({"optimizer": "sgd", "lr_rule": "adascale", "noise_every": 3, "schedule": "plateau:patience=4"})");
    row("a budget that is changed",
        R"({"name": "budget", "memory_budget": 1500000, "batch": 100, "schedule": "linear:max=400"})", true);
    row("evaluated ten times an epoch", R"({"evaluate_every": "10%"})");
    row("tokens", R"({"model": "gpt:layers=1,heads=2,width=16,context=12", "dropout": 0.1,
                      "data": "synthetic:examples=625,vocabulary=20"})");
    row("streams with shares that follow their losses",
        R"({"data": "a=synthetic:examples=625,shape=1x16x16,classes=4,b=synthetic:examples=125,shape=1x16x16,classes=4",
            "shares": "loss:a=0.7,b=0.3", "dropout": 0.1, "accumulate": 2})");
    row("streams in a small budget",
        R"({"data": "a=synthetic:examples=625,shape=1x16x16,classes=4,b=synthetic:examples=525,shape=1x16x16,classes=4",
            "shares": "linear:a=0.9,b=0.1,20:a=0.2,b=0.8", "clock": "b", "memory_budget": 1500000, "batch": 100,
            "schedule": "linear:max=300"})",
        true);
    row("lines grouped by length", R"({"model": "gpt:layers=1,heads=2,width=16,context=40", "group_by_length": true,
                                       "data": "lines:)" BATCHSCOPE_SOURCE_DIR R"(/LICENSE"})");
    row("every saver of memory", R"({"dropout": 0.2, "precision": "bf16", "checkpointing": true, "ema": 0.9,
                                     "optimizer": "rmsprop", "clip": 1})");
    row("augmentation, and micro batches that grow back",
        R"({"memory_budget": 1500000, "batch": 100, "augment": "flip,shift:2,crop:15", "grow_back": 3,
            "model": "cnn:width=8,norm=batch", "evaluate_every": 7})",
        true);
    row("back-off", R"({"memory_budget": 1500000, "batch": 100, "schedule": "linear:max=400", "dropout": 0.2})", true);
  }
  void theSameBits() {
    QFETCH(QString, json);
    QFETCH(bool, runs_out_of_memory);
    RunSpec spec = run_spec_from_json(json.toStdString(), checkpointed_spec(10));
    const QTemporaryDir directory;
    const fs::path folder = directory.path().toStdString();
    Recorded seen;
    const auto whole = run_part(spec, folder / "whole", 0, false, &seen);
    QVERIFY(whole.size() > 22); // AdaScale ends earlier
    QCOMPARE(!seen.details("oom").empty(), runs_out_of_memory);
    for (const std::int64_t at :
         {1, 13, 14, 22, static_cast<int>(whole.size()) - 1}) { // an epoch of 500 examples ends somewhere between
      const fs::path parts = folder / std::to_string(at);
      Recorded part;
      auto records = run_part(spec, parts, at, false, &part);
      QList<double> evaluated = evaluations(part);
      QCOMPARE(records.size(), static_cast<std::size_t>(at));
      const auto rest = run_part(spec, parts, 0, true, &part);
      evaluated += evaluations(part);
      records.insert(records.end(), rest.begin(), rest.end());
      QCOMPARE(records.size(), whole.size());
      QCOMPARE(evaluated, evaluations(seen));
      for (std::size_t i = 0; i < whole.size(); ++i)
        QVERIFY2(same_bits(records[i], whole[i]),
                 qPrintable(QStringLiteral("stopped after %1: step %2").arg(at).arg(i + 1)));
      QCOMPARE(QString::fromStdString(difference(parts, folder / "whole")), QString());
    }
  }

  /// Also if it is stopped again and again, and in the end has nothing left but its last evaluation.
  void manyTimes() {
    const RunSpec spec = run_spec_from_json(R"({"dropout": 0.2, "schedule": "linear:max=60"})", checkpointed_spec(10));
    const QTemporaryDir directory;
    const fs::path folder = directory.path().toStdString();
    run_part(spec, folder / "whole", 0, false);
    for (std::int64_t at = 5; at <= steps; at += 5) // not where an edit is asked for, which a stop refuses
      run_part(spec, folder / "parts", at, at > 5);
    run_part(spec, folder / "parts", 0, true);
    QCOMPARE(QString::fromStdString(difference(folder / "parts", folder / "whole")), QString());
  }

  void aCheckpointAtEveryStepChangesNothing() {
    RunSpec spec = run_spec_from_json(R"({"dropout": 0.2, "evaluate_every": 3})", checkpointed_spec(40));
    const QTemporaryDir directory;
    const fs::path folder = directory.path().toStdString();
    const auto seldom = run_part(spec, folder / "seldom", 0, false);
    spec.checkpoint_every = 1;
    Recorded seen;
    const auto often = run_part(spec, folder / "often", 0, false, &seen);
    for (std::size_t i = 0; i < seldom.size(); ++i)
      QVERIFY(same_bits(often[i], seldom[i]));
    QCOMPARE(QString::fromStdString(difference(folder / "often", folder / "seldom")), QString());
    const auto reports = seen.details("checkpoint");
    QVERIFY(!reports.empty());
    for (const Json& report : reports)
      QVERIFY(report["bytes"].get<std::uint64_t>() > 0 && report["copy_seconds"].get<double>() > 0 &&
              report["copy_seconds"].get<double>() < seen.records.back().seconds);
    QCOMPARE(seen.events.back().step, steps); // the last one is at the end
    QVERIFY(checkpoints_in(folder / "often").size() <= 3);
  }

  void withoutAFolderToWriteToTrainingGoesOn() {
    RunSpec spec = checkpointed_spec(40);
    spec.checkpoint_every = 2;
    const QTemporaryDir directory;
    const fs::path folder = directory.path().toStdString();
    std::ofstream(folder / "file") << "in the place of a folder";
    Recorded seen;
    QCOMPARE(run_part(spec, folder / "file" / "below", 0, false, &seen).size(), static_cast<std::size_t>(steps));
    const auto reports = seen.details("checkpoint");
    QCOMPARE(reports.size(), std::size_t{1}); // not again for each one
    QVERIFY(reports[0]["message"].get<std::string>().find("training continues") != std::string::npos);
  }

  void otherModelsAreRefused() {
    const QTemporaryDir directory;
    const fs::path folder = directory.path().toStdString();
    const RunSpec spec = checkpointed_spec(40);
    run_part(spec, folder, 3, false);
    const auto kept = checkpoint::read(checkpoints_in(folder).at(0).path);
    const auto refused = [&](const char* json, const checkpoint::Checkpoint& checkpoint) {
      const auto session = open_session(run_spec_from_json(json, spec));
      const std::string message = message_of([&] { session->restore(checkpoint, {}); });
      Recorded recorded;
      RunControl control;
      session->run(recorded, control); // as if nothing had been asked of it
      return recorded.records.front().step == 1 && recorded.details("resumed").empty() ? message : "it was changed";
    };
    QVERIFY(refused(R"({"model": "cnn:width=16", "steps": 2})", kept).find("another model") != std::string::npos);
    QVERIFY(refused(R"({"model": "mlp:hidden=8", "steps": 2})", kept).find("another model") != std::string::npos);
    QVERIFY(refused(R"({"optimizer": "sgd", "steps": 2})", kept).find("another model") != std::string::npos);
    checkpoint::Checkpoint broken = kept;
    broken.texts["loop"] = "[]";
    QVERIFY(!refused(R"({"steps": 2})", broken).empty());
    broken = kept;
    broken.texts["progress"] = "{}";
    QVERIFY(!refused(R"({"steps": 2})", broken).empty());
    broken = kept;
    broken.texts.erase("plan");
    QVERIFY(refused(R"({"steps": 2})", broken).find("plan") != std::string::npos);
  }
};

BATCHSCOPE_TEST(TestResume)
#include "tst_resume.moc"
