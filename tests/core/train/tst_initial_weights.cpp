#include <QTemporaryDir>
#include <QTest>

#include <filesystem>

#include "core/base/error.h"
#include "core/checkpoint/safetensors.h"
#include "run_helpers.h"
#include "test_program.h"

using namespace batchscope;
using namespace batchscope::run;

namespace {

struct WeightsFile {
  QTemporaryDir folder;
  std::string path = folder.filePath("weights.safetensors").toStdString();
};

/// Trains with steps that change no weight.
RunSpec without_change(RunSpec spec, const std::string& init) {
  spec.init = init;
  spec.save.clear();
  spec.ema.reset();
  spec.optimizer = "sgd";
  spec.learning_rate = 1e-30;
  spec.length = {.epochs = {}, .examples = {}, .steps = 1};
  return spec;
}

} // namespace

/// Weights from one run into the next.
class TestInitialWeights : public QObject {
  Q_OBJECT

private Q_SLOTS:
  void areThoseThatARunSaved_data() {
    QTest::addColumn<QString>("json");
    QTest::newRow("group norm") << "{}";
    QTest::newRow("batch norm") << R"({"model": "cnn:width=8,norm=batch"})";
    QTest::newRow("averages") << R"({"ema": 0.9})";
    QTest::newRow("vit") << R"({"model": "vit:layers=1,heads=2,width=16"})";
  }
  void areThoseThatARunSaved() {
    QFETCH(QString, json);
    const WeightsFile file;
    RunSpec spec = run_spec_from_json(json.toStdString(), small_spec(40, 8));
    spec.save = file.path;
    const FinishedRun saved = run_to_end(spec);
    QCOMPARE(saved.recorded.details("weights").size(), std::size_t{1});
    QCOMPARE(saved.recorded.details("weights")[0]["file"].get<std::string>(), file.path);
    if (json.contains("batch"))
      return; // its statistics move even so
    const FinishedRun again = run_to_end(without_change(spec, file.path));
    QCOMPARE(again.outcome.validation_loss, saved.outcome.validation_loss);
    spec.save.clear();
    QVERIFY(run_to_end(without_change(spec, "")).outcome.validation_loss != saved.outcome.validation_loss);
  }

  void aStoppedRunSavesToo() {
    struct Stopping : Recorded {
      RunControl control;
      void record(const telemetry::StepRecord& record) override {
        if (record.step == 3)
          control.stop();
      }
    } sink;
    const WeightsFile file;
    RunSpec spec = small_spec(40, 8);
    spec.save = file.path;
    QCOMPARE(open_session(spec)->run(sink, sink.control).status, telemetry::RunStatus::stopped);
    QVERIFY(!checkpoint::read_safetensors(file.path).empty());
  }

  /// The run itself succeeded, but its weights are lost: that is said, and is no success.
  void aFileThatCannotBeWrittenFailsTheRun() {
    WeightsFile file;
    RunSpec spec = small_spec(40, 2);
    spec.save = file.folder.filePath("gone/weights.safetensors").toStdString();
    std::filesystem::create_directory(file.folder.filePath("gone").toStdString());
    const auto session = open_session(spec);
    std::filesystem::remove(file.folder.filePath("gone").toStdString());
    Recorded recorded;
    RunControl control;
    const telemetry::RunOutcome outcome = session->run(recorded, control);
    QCOMPARE(outcome.status, telemetry::RunStatus::failed);
    QCOMPARE(outcome.steps, std::int64_t{2});
    QVERIFY2(outcome.reason.find("weights were not saved") != std::string::npos, outcome.reason.c_str());
  }

  /// Models that fill masked tokens in learn from any text.
  void masksAreLearnt() {
    RunSpec spec = small_spec(50, 60);
    spec.model = "bert:layers=1,heads=2,width=32,context=24";
    spec.data = "synthetic:examples=625,vocabulary=12";
    spec.learning_rate = 0.01;
    const FinishedRun run = run_to_end(spec);
    QCOMPARE(run.outcome.status, telemetry::RunStatus::finished);
    const double first = run.recorded.records.front().loss, last = run.recorded.records.back().loss;
    QVERIFY2(std::abs(first - std::log(13)) < 0.2 && last < first - 0.2,
             qPrintable(QStringLiteral("%1, %2").arg(first).arg(last)));
    // However it is split, the mean is over the same masked tokens.
    spec.length = {.epochs = {}, .examples = {}, .steps = 3};
    RunSpec split = spec;
    split.batch.number = 10;
    split.accumulate = 5;
    const FinishedRun whole = run_to_end(spec), parts = run_to_end(split);
    QVERIFY(relative(parts.recorded.records[2].loss, whole.recorded.records[2].loss) < 1e-4);
  }
};

BATCHSCOPE_TEST(TestInitialWeights)
#include "tst_initial_weights.moc"
