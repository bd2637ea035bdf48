#include <csignal>

#include "test_program.h"
#include "tests/app/cli/cli_program.h"

using namespace batchscope::test;

class TestTrain : public QObject {
  Q_OBJECT

private Q_SLOTS:
  void shape();
  void automaticBatch();
  void outOfMemoryIsSurvived();
  void outOfMemoryFails();
  void descriptionFromFile();
  void formulaThatTurnsBad();
  void divergedRunKeepsNaN();
  void interruptStoresTheRun();
  void anIgnoredInterruptStaysIgnored();
  void aNameIsOneLine();
  void budgetBelowTheModel();
  void refused_data();
  void refused();
  void refusedFiles_data();
  void refusedFiles();
  void refusedData_data();
  void refusedData();
};

namespace {

/// A run of a fraction of a second.
QStringList small_run(const QStringList& more = {}) {
  return QStringList{"train",           "--json", "--model",
                     "mlp:hidden=16",   "--data", "synthetic:examples=400,shape=1x8x8,classes=4",
                     "--memory-budget", "50MB"} +
         more;
}

QJsonArray events_of(const CliProgram& program, const QString& kind) {
  QJsonArray found;
  for (const auto& event : program.run({"show", "--json", "1"}).json()["events"].toArray())
    if (event.toObject()["kind"].toString() == kind)
      found.append(event);
  return found;
}

} // namespace

void TestTrain::shape() {
  const CliProgram program;
  const Outcome outcome = program.run(small_run({"--batch", "32", "--epochs", "2"}));
  QVERIFY2(outcome.status == 0, outcome.shown().constData());
  const QJsonObject run = outcome.json();
  for (const char* field : {"run", "status", "steps", "examples_seen", "epoch", "train_coverage", "oom_events", "loss",
                            "validation", "peak_bytes", "seconds", "examples_per_second"})
    QVERIFY2(run.contains(field), field);
  QCOMPARE(run["run"].toInt(), 1);
  QCOMPARE(run["status"].toString(), QString("finished"));
  const QJsonObject environment = program.run({"show", "--json", "1"}).json()["environment"].toObject();
  for (const char* field : {"program", "libtorch", "device", "cpu"})
    QVERIFY2(!environment[field].toString().isEmpty(), field);
  QVERIFY(environment["threads"].toInt() > 0);
  QCOMPARE(environment["seed"].toInt(), 1);
  // 320 of 400 examples train: 10 steps an epoch.
  QCOMPARE(run["steps"].toInt(), 20);
  QCOMPARE(run["examples_seen"].toInt(), 640);
  QCOMPARE(run["epoch"].toDouble(), 2.0);
  QVERIFY(run["validation"].toObject()["accuracy"].isDouble());
  const QJsonObject series = program.run({"show", "--json", "1", "--series", "loss,batch"}).json();
  QCOMPARE(series["series"].toObject()["loss"].toArray().size(), 20);
  QCOMPARE(series["series"].toObject()["batch"].toArray()[0].toArray(), QJsonArray({1, 32}));
}

void TestTrain::automaticBatch() {
  const CliProgram program;
  const Outcome outcome = program.run(small_run({"--batch", "auto:largest", "--steps", "1"}));
  QVERIFY2(outcome.status == 0, outcome.shown().constData());
  QVERIFY(outcome.err.contains("probe"));
  QVERIFY(outcome.json()["search"].toInt() >= 1);
  QCOMPARE(outcome.json()["batch_reason"].toString(), QString("the largest that fits"));
  // Of 320 examples; bare auto leaves an epoch 20 steps.
  const Outcome automatic = program.run(small_run({"--batch", "auto"}));
  QVERIFY2(automatic.status == 0, automatic.shown().constData());
  QVERIFY2(automatic.json()["steps"].toInt() >= 20, automatic.shown().constData());
  QVERIFY(!automatic.json()["batch_reason"].toString().isEmpty());
  QVERIFY(automatic.err.contains(automatic.json()["batch_reason"].toString().toUtf8()));
  const Outcome quiet = program.run(small_run({"--batch", "auto", "--steps", "1", "--quiet"}));
  QCOMPARE(quiet.status, 0);
  QVERIFY2(quiet.err.isEmpty(), quiet.err.constData());
}

void TestTrain::outOfMemoryIsSurvived() {
  const CliProgram program;
  const Outcome outcome = program.run({"train", "--json", "--model", "cnn:width=8", "--data", "demo", "--batch", "256",
                                       "--steps", "2", "--memory-budget", "12MB"});
  QVERIFY2(outcome.status == 0, outcome.shown().constData());
  QVERIFY2(outcome.json()["oom_events"].toInt() > 0, outcome.shown().constData());
  QCOMPARE(outcome.json()["examples_seen"].toInt(), 512);
  QVERIFY(outcome.err.contains("out of memory with a micro batch"));
  const QJsonArray events = events_of(program, "oom");
  QVERIFY(!events.isEmpty());
  for (const char* field : {"attempted_batch", "requested_bytes", "in_use_bytes", "limit_bytes", "action", "cause"})
    QVERIFY2(events[0].toObject().contains(field), field);
}

void TestTrain::outOfMemoryFails() {
  const CliProgram program;
  const Outcome outcome = program.run({"train", "--json", "--model", "cnn:width=8", "--data", "demo", "--batch", "256",
                                       "--steps", "2", "--memory-budget", "12MB", "--on-oom", "fail"});
  QVERIFY2(outcome.status == 1, outcome.shown().constData());
  QCOMPARE(outcome.json()["status"].toString(), QString("failed"));
  QVERIFY(!outcome.json()["reason"].toString().isEmpty());
}

void TestTrain::descriptionFromFile() {
  const CliProgram program;
  const Outcome printed = program.run(small_run({"--batch", "16", "--lr", "0.01", "--steps", "3", "--print-spec"}));
  QVERIFY2(printed.status == 0, printed.shown().constData());
  QCOMPARE(printed.json()["lr"].toDouble(), 0.01);
  QVERIFY(program.files().isEmpty());
  const QString file = program.write("spec.json", printed.out);
  const Outcome again = program.run({"train", file, "--batch", "8", "--print-spec"});
  QCOMPARE(again.json()["batch"].toInt(), 8);
  QCOMPARE(again.json()["steps"].toInt(), 3);
  const Outcome run = program.run({"train", "--json", file, "--steps", "2"});
  QVERIFY2(run.status == 0, run.shown().constData());
  QCOMPARE(run.json()["steps"].toInt(), 2);
}

void TestTrain::formulaThatTurnsBad() {
  const CliProgram program;
  const Outcome outcome =
      program.run(small_run({"--batch", "8", "--steps", "8", "--schedule", "formula:8/(step-5)*(step-5)"}));
  QVERIFY2(outcome.status == 0, outcome.shown().constData());
  QCOMPARE(outcome.json()["steps"].toInt(), 8);
  QVERIFY(!events_of(program, "schedule-problem").isEmpty());
}

void TestTrain::divergedRunKeepsNaN() {
  const CliProgram program;
  const Outcome outcome =
      program.run(small_run({"--batch", "32", "--optimizer", "sgd", "--lr", "1e30", "--steps", "6"}));
  QVERIFY2(outcome.status == 0 || outcome.status == 1, outcome.shown().constData());
  QVERIFY2(!outcome.json().isEmpty(), outcome.shown().constData());
  QVERIFY2(outcome.json()["loss"].isString(), outcome.shown().constData());
}

void TestTrain::interruptStoresTheRun() {
  const CliProgram program;
  QProcess process;
  program.start(process, small_run({"--batch", "4", "--epochs", "1000000"}));
  process.setReadChannel(QProcess::StandardError);
  // The line that says that the run has begun.
  while (!process.readAllStandardError().contains("run 1"))
    QVERIFY(process.waitForReadyRead(60'000) || process.state() == QProcess::Running);
  ::kill(static_cast<pid_t>(process.processId()), SIGINT);
  const Outcome outcome = CliProgram::finish(process);
  QVERIFY2(outcome.status == 130, outcome.shown().constData());
  QCOMPARE(outcome.json()["status"].toString(), QString("stopped"));
  const QJsonObject row = program.run({"list", "--json"}).json()["runs"].toArray()[0].toObject();
  QCOMPARE(row["status"].toString(), QString("stopped"));
  QCOMPARE(row["steps"].toInt(), outcome.json()["steps"].toInt());
  QCOMPARE(program.run({"check"}).status, 0);
}

/// As a shell without job control starts what a script puts into the background.
void TestTrain::anIgnoredInterruptStaysIgnored() {
  const CliProgram program;
  QProcess process;
  process.setChildProcessModifier([] { std::signal(SIGINT, SIG_IGN); });
  program.start(process, small_run({"--batch", "4", "--steps", "3000"}));
  process.setReadChannel(QProcess::StandardError);
  while (!process.readAllStandardError().contains("run 1"))
    QVERIFY(process.waitForReadyRead(60'000) || process.state() == QProcess::Running);
  ::kill(static_cast<pid_t>(process.processId()), SIGINT);
  const Outcome outcome = CliProgram::finish(process);
  QVERIFY2(outcome.status == 0, outcome.shown().constData());
  QCOMPARE(outcome.json()["steps"].toInt(), 3000);
}

/// A line of the table of runs stays a line.
void TestTrain::aNameIsOneLine() {
  const CliProgram program;
  const Outcome outcome = program.run(small_run({"--batch", "32", "--steps", "1", "--name", "a\nb\x1b[31m "}));
  QVERIFY2(outcome.status == 0, outcome.shown().constData());
  const QJsonObject row = program.run({"list", "--json"}).json()["runs"].toArray()[0].toObject();
  QCOMPARE(row["name"].toString(), QString("a b [31m"));
}

void TestTrain::budgetBelowTheModel() {
  const CliProgram program;
  for (const char* batch : {"1", "auto"}) {
    const Outcome outcome = program.run({"train", "--json", "--model", "mlp:hidden=4096", "--data", "demo",
                                         "--memory-budget", "1MB", "--batch", batch});
    QVERIFY2(outcome.status == 1, outcome.shown().constData());
    QVERIFY2(outcome.err.contains("batchscope-cli: error: ") || outcome.json()["status"] == "failed",
             outcome.shown().constData());
  }
}

void TestTrain::refused_data() {
  QTest::addColumn<QString>("arguments");
  QTest::addColumn<QByteArray>("named");
  const auto row = [](const char* arguments, const QByteArray& named) {
    QTest::newRow(arguments) << QString(arguments) << named;
  };
  row("--batch 0", "--batch");
  row("--batch -4", "--batch");
  row("--batch 1.5", "--batch");
  row("--batch 321", "321");
  row("--batch auto:best", "auto:best");
  row("--accumulate 2 --effective-batch 4", "--effective-batch");
  row("--effective-batch 321", "321");
  row("--epochs 1 --steps 1", "--steps");
  row("--epochs 1 --examples 1", "--examples");
  row("--steps 0", "--steps");
  row("--lr nan", "--lr");
  row("--lr inf", "--lr");
  row("--lr -1", "--lr");
  row("--lr 1e999", "--lr");
  row("--momentum 0.9", "--momentum");
  row("--optimizer lion", "lion");
  row("--model nope", "nope");
  row("--model mlp:hidden=0", "hidden");
  row("--model mlp:hidden=4,hidden=4", "hidden");
  row("--model mlp:depth=4", "depth");
  row("--model cnn:norm=layer", "layer");
  row("--model torchscript:", "a file name is missing");
  row("--model torchscript:missing.pt", "missing.pt: no such file");
  row("--model torchscript:net.pt,norm=group", "no parameter 'norm'");
  row("--model torchscript:net.pt --dropout 0.1", "--dropout");
  row("--model torchscript:net.pt --checkpointing", "--checkpointing");
  row("--model torchscript:net.pt --batch-norm-rule inverse", "--batch-norm-rule");
  row("--init missing.safetensors", "missing.safetensors: no such file");
  row("--save no/weights.safetensors", "its folder does not exist");
  row("--save .", "is a folder");
  row("--schedule nope", "nope");
  row("--batch 4 --schedule piecewise:0=5,3=6", "piecewise");
  row("--batch 4 --schedule formula:batch/0", "batch/0");
  row("--batch auto --schedule piecewise:0=5,3=6", "piecewise");
  row("--memory-budget 999999", "--memory-budget");
  row("--memory-budget 1e6", "--memory-budget");
  row("--device cuda", "--device");
  row("--device tpu:0", "--device");
  row("--device cuda:99", "cuda");
  row("--dropout 1", "--dropout");
  row("--label-smoothing nan", "--label-smoothing");
  row("--clip 0", "--clip");
  row("--seed -1", "--seed");
  row("--on-oom grow", "grow");
  row("--grow-back 0", "--grow-back");
  row("--augment mirror", "mirror");
  row("--augment crop:999", "crop:999");
  row("--task other", "other");
  row("--warmup soon", "soon");
  row("--data nope", "nope");
  row("--data synthetic:examples=0,shape=1x8x8,classes=4", "examples");
  const char* streams = "--data a=synthetic:examples=9,shape=1x8x8,classes=4,b=synthetic:examples=9,shape=1x8x8,";
  row((QByteArray(streams) + "classes=5").constData(), "5 classes");
  row((QByteArray(streams) + "classes=4 --shares a=0.7,b=0.4").constData(), "add up to 1.1");
  row((QByteArray(streams) + "classes=4 --clock c").constData(), "--clock");
  row("--shares a=1", "--shares");
  row("--group-by-length", "--group-by-length");
  row("missing.json", "missing.json");
  row(".", "not a file");
}

void TestTrain::refused() {
  QFETCH(QString, arguments);
  QFETCH(QByteArray, named);
  QStringList all = small_run();
  // An option may be given once only, so what the row gives takes the place of what is there.
  const QStringList given = arguments.split(' ');
  for (const auto& option : given)
    if (const auto at = all.indexOf(option); option.startsWith("--") && at >= 0)
      all.remove(at, 2);
  const CliProgram program;
  VERIFY_REFUSED(program, program.run(all + given), named);
  QVERIFY(program.files().isEmpty());
}

void TestTrain::refusedFiles_data() {
  QTest::addColumn<QByteArray>("content");
  QTest::addColumn<QByteArray>("named");
  const auto row = [](const char* content, const QByteArray& named) {
    QTest::newRow(content) << QByteArray(content) << named;
  };
  row("", "the file is empty");
  row("{\"batch\": 0}", "batch");
  row("{\"batch\": 4, \"lr\": NaN}", "line 1");
  row("{\"precision\": \"fp8\"}", "precision");
  row("{\"epochs\": 1, \"steps\": 1}", "--epochs");
  row("{\"version\": 99}", "version");
  row("[1, 2]", "object");
}

void TestTrain::refusedFiles() {
  QFETCH(QByteArray, content);
  QFETCH(QByteArray, named);
  const CliProgram program;
  const QString file = program.write("spec.json", content);
  const Outcome outcome = program.run({"train", "--json", file});
  VERIFY_REFUSED(program, outcome, named);
  QVERIFY(outcome.err.contains("spec.json"));
}

void TestTrain::refusedData_data() {
  QTest::addColumn<QString>("data");
  QTest::addColumn<QByteArray>("named");
  const auto row = [](const char* name, const QString& data, const QByteArray& named) {
    QTest::newRow(name) << data << named;
  };
  row("missing file", "idx:images.gz,missing.gz", "missing.gz");
  row("a folder", "idx:folder,labels.gz", "folder");
  row("empty file", "idx:empty,labels.gz", "empty");
  row("cut off", "idx:cut.gz,labels.gz", "cut.gz");
  row("no IDX file", "idx:text.txt,labels.gz", "text.txt");
  row("labels that do not match", "idx:images.gz,few-labels", "few-labels");
  row("one file", "idx:images.gz", "idx");
  row("missing text", "text:missing.txt", "missing.txt");
  row("empty text", "text:empty", "empty");
  row("missing table", "csv:missing.csv,target=y", "missing.csv");
  row("row of another length", "csv:short.csv,target=y", "3");
  row("no such column", "csv:short.csv,target=z", "z");
  row("no array", "npy:text.txt,text.txt", "text.txt");
  row("no archive", "npz:text.txt", "text.txt");
  row("no folder", "images:missing", "missing");
  row("a file as a folder", "images:text.txt", "text.txt");
}

void TestTrain::refusedData() {
  QFETCH(QString, data);
  QFETCH(QByteArray, named);
  const CliProgram program;
  const QString demo = QString(BATCHSCOPE_SOURCE_DIR) + "/resources/demo/";
  const auto bytes = [](const QString& name) {
    QFile file(name);
    return file.open(QIODevice::ReadOnly) ? file.readAll() : QByteArray();
  };
  const QByteArray images = bytes(demo + "t10k-images-idx3-ubyte.gz");
  QVERIFY(!images.isEmpty());
  program.write("images.gz", images);
  program.write("cut.gz", images.left(images.size() / 2));
  program.write("labels.gz", bytes(demo + "t10k-labels-idx1-ubyte.gz"));
  program.write("few-labels", QByteArray::fromHex("000008010000000301020"
                                                  "3")
                                  .leftJustified(11, '\1', true));
  program.write("empty", {});
  program.write("text.txt", "no images here, only a text that is long enough to be looked at\n");
  program.write("short.csv", "a,b,y\n1,2,0\n1,1\n");
  QVERIFY(QDir(program.path(".")).mkdir("folder"));
  VERIFY_REFUSED(program, program.run({"train", "--json", "--batch", "4", "--data", data}), named);
}

BATCHSCOPE_TEST(TestTrain)
#include "tst_train.moc"
