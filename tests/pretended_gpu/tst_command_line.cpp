#include <cmath>
#include <string>

#include <QJsonArray>

#include <QDir>
#include <QProcess>

#include "core/base/error.h"
#include "core/estimate/cards.h"
#include "core/pretended_gpu/rig.h"
#include "test_program.h"
#include "tests/app/cli/cli_program.h"

using namespace batchscope;
using batchscope::test::CliProgram;
using batchscope::test::Outcome;

namespace {

constexpr std::uint64_t gb = 1'000'000'000;

/// The command line on pretended GPUs; `more`: lines that only tests set.
class OnGpus : public CliProgram {
public:
  explicit OnGpus(const pretended_gpu::Gpu& gpu, const QByteArray& more = {},
                  pretended_gpu::Torch torch = pretended_gpu::Torch::engine) {
    for (const auto& [name, value] : pretended_gpu::environment(gpu, torch))
      set(QString::fromStdString(name),
          QString::fromStdString(value) + (name == "BATCHSCOPE_PRETENDED_GPU" ? "\n" + QString(more) : QString()));
  }
};

/// The exit status of such a program, alone on a card.
int status_alone(const QString& card, double batch);

/// A plain loop in PyTorch.
QStringList own_program(const QString& net, const QString& batch, const QString& device) {
  return {qEnvironmentVariable("BATCHSCOPE_TEST_PYTHON"),
          BATCHSCOPE_SOURCE_DIR "/tests/gpu/training.py",
          "loop",
          net,
          batch,
          "1000000",
          device};
}

int status_alone(const QString& card, double batch) {
  QProcess program;
  QProcessEnvironment environment = QProcessEnvironment::systemEnvironment();
  const estimate::Target target = estimate::parse_target(card.toStdString(), "--for");
  for (const auto& [name, value] :
       pretended_gpu::environment(estimate::pretended(target), pretended_gpu::Torch::python))
    environment.insert(QString::fromStdString(name), QString::fromStdString(value));
  environment.remove("CUDA_VISIBLE_DEVICES");
  program.setProcessEnvironment(environment);
  QStringList command = own_program("wide_gpt", QString::number(batch, 'f', 0), "cuda:0");
  command.replaceInStrings("1000000", "24");
  program.start(command.takeFirst(), command);
  program.waitForFinished(600'000);
  return program.exitStatus() == QProcess::NormalExit ? program.exitCode() : -1;
}

/// 0: none that lives.
qint64 child_of(qint64 process) {
  for (const QString& thread :
       QDir(QString("/proc/%1/task").arg(process)).entryList(QDir::Dirs | QDir::NoDotAndDotDot)) {
    QFile children(QString("/proc/%1/task/%2/children").arg(process).arg(thread));
    if (children.open(QIODevice::ReadOnly))
      if (const qint64 child = children.readAll().split(' ').first().toLongLong())
        return child;
  }
  return 0;
}

bool is_alive(qint64 process) {
  QFile status(QString("/proc/%1/stat").arg(process));
  return status.open(QIODevice::ReadOnly) && !status.readAll().contains(") Z ");
}

const QStringList small{"train",   "--model", "mlp:hidden=32", "--data", "synthetic:examples=400,shape=16,classes=4",
                        "--batch", "16",      "--steps",       "4",      "--device"};

} // namespace

/// The built program with LibTorch's real CUDA part, on GPUs that are pretended.
class TestCommandLine : public QObject {
  Q_OBJECT

private Q_SLOTS:
  void trainsOnTheGpuThatIsNamed() {
    const OnGpus here({.name = "NVIDIA H100 80GB HBM3", .memory_bytes = 80 * gb, .count = 2});
    const Outcome trained = here.run(small + QStringList{"cuda:1", "--json"});
    QVERIFY2(trained.status == 0, trained.shown());
    const Outcome shown = here.run({"show", "1"});
    QVERIFY2(shown.out.contains("NVIDIA H100 80GB HBM3"), shown.shown());
  }

  void saysWhyAGpuCannotBeUsed_data() {
    QTest::addColumn<int>("count");
    QTest::addColumn<QByteArray>("more");
    QTest::addColumn<QByteArray>("visible");
    QTest::addColumn<QByteArray>("why");
    QTest::newRow("one") << 1 << QByteArray() << QByteArray() << QByteArray("cuda:1: available: cuda:0\n");
    QTest::newRow("two") << 3 << QByteArray() << QByteArray("0,2") << QByteArray();
    QTest::newRow("none") << 0 << QByteArray() << QByteArray()
                          << QByteArray("cuda:1: the NVIDIA driver is loaded, but it names no GPU\n");
    QTest::newRow("hidden") << 2 << QByteArray() << QByteArray("-1")
                            << QByteArray("cuda:1: no GPU is visible: CUDA_VISIBLE_DEVICES is \"-1\"\n");
    QTest::newRow("old driver") << 2 << QByteArray("driver=12040") << QByteArray()
                                << QByteArray(
                                       "cuda:1: the NVIDIA driver knows CUDA up to 12.4, and this LibTorch needs "
                                       "CUDA 13.");
    QTest::newRow("old card") << 2 << QByteArray("capability=61") << QByteArray()
                              << QByteArray("cuda:1: its compute capability is 6.1, and this LibTorch has kernels from "
                                            "7.5 on\n");
  }
  void saysWhyAGpuCannotBeUsed() {
    QFETCH(int, count);
    QFETCH(QByteArray, more);
    QFETCH(QByteArray, visible);
    QFETCH(QByteArray, why);
    OnGpus here({.name = "a GPU", .memory_bytes = 8 * gb, .count = count}, more);
    if (!visible.isEmpty())
      here.set("CUDA_VISIBLE_DEVICES", visible);
    const Outcome trained = here.run(small + QStringList{"cuda:1"});
    QVERIFY2((trained.status == 0) == why.isEmpty(), trained.shown());
    QVERIFY2(trained.err.contains(why), trained.shown());
  }

  /// LibTorch looks once whether there is a GPU: the forms of the window ask it long before one is used.
  void sweepsOverCpuAndGpu() {
    const OnGpus here({.name = "a GPU", .memory_bytes = 8 * gb});
    const Outcome swept =
        here.run({"sweep", "--model", "mlp:hidden=32", "--data", "synthetic:examples=400,shape=16,classes=4", "--batch",
                  "16", "--steps", "4", "--vary", "device=cpu,cuda:0", "--json"});
    QVERIFY2(swept.status == 0, swept.shown());
    QVERIFY2(!swept.out.contains("unavailable") && !swept.err.contains("unavailable"), swept.shown());
    QCOMPARE(here.run({"list", "--json"}).out.count("\"finished\""), 2);
  }

  /// A GPU for each worker, which sees no other.
  void sweepsOnSeveralCards() {
    const OnGpus here({.name = "a GPU", .memory_bytes = 8 * gb, .count = 4});
    const Outcome swept =
        here.run({"sweep", "--model", "mlp:hidden=32", "--data", "synthetic:examples=4000,shape=16,classes=4",
                  "--batch", "2,4,8,16,32,64", "--steps", "300", "--device", "cuda:0,cuda:1,cuda:2,cuda:3"});
    QVERIFY2(swept.status == 0 && swept.out.contains("6 of 6 runs finished"), swept.shown());
  }

  void givesAProgramTheCardOfItsWorker() {
    OnGpus here({.name = "a GPU", .memory_bytes = 8 * gb, .count = 4});
    here.set("CUDA_VISIBLE_DEVICES", "3,1,2");
    const Outcome swept = here.run(
        {"sweep", "--device", "cuda:2,cuda:0", "--batch", "1,2,3,4", "--metric", "loss=card ([0-9]+)", "--", "python3",
         "-c", "import os, time; print('card', os.environ['CUDA_VISIBLE_DEVICES'], flush=True); time.sleep(2)",
         "{batch}"});
    QVERIFY2(swept.status == 0, swept.shown());
    const QJsonArray runs = here.run({"list", "--json"}).json()["runs"].toArray();
    QCOMPARE(runs.size(), 4);
    QList<int> cards;
    for (const QJsonValue& run : runs)
      cards << run["loss"].toInt();
    QCOMPARE(cards.count(3), 2);
    QCOMPARE(cards.count(2), 2);
  }

  /// It gives its run back, and the others make it.
  void leavesTheSweepToTheOthersWithoutItsCard() {
    const OnGpus here({.name = "a GPU", .memory_bytes = 8 * gb, .count = 1});
    const QStringList sweep{
        "sweep",   "--model",  "mlp:hidden=32", "--data", "synthetic:examples=400,shape=16,classes=4",
        "--batch", "2,4,8,16", "--steps",       "3000"}; // long enough for the other worker to begin
    const Outcome swept = here.run(sweep + QStringList{"--device", "cuda:0,cuda:1"});
    QVERIFY2(swept.status == 0 && swept.out.contains("4 of 4 runs finished"), swept.shown());
    QVERIFY2(swept.err.contains("no GPU is visible: CUDA_VISIBLE_DEVICES is \"1\""), swept.shown());
    const Outcome shown = here.run({"show", "1"});
    QVERIFY2(shown.out.contains(", GPU 0\n"), shown.shown());

    const Outcome resumed =
        here.run({"sweep", "--resume", "1", "--batch", "32,64,128,256", "--device", "cuda:1,cuda:0"});
    QVERIFY2(resumed.status == 0 && resumed.out.contains("8 of 8 runs finished"), resumed.shown());
    QVERIFY2(resumed.err.contains("no GPU is visible: CUDA_VISIBLE_DEVICES is \"1\""), resumed.shown());

    const Outcome none = here.run({"sweep", "--resume", "1", "--batch", "300", "--device", "cuda:1,cuda:2"});
    QVERIFY2(none.status == 1 && none.err.contains("error: "), none.shown());
  }

  void saysWhatIsWrongWithTheCardsOfASweep_data() {
    QTest::addColumn<QStringList>("options");
    QTest::addColumn<QByteArray>("said");
    QTest::newRow("cpu") << QStringList{"--device", "cuda:0,cpu"}
                         << QByteArray("\"cpu\" is not accepted for the workers");
    QTest::newRow("twice") << QStringList{"--device", "cuda:1,cuda:1"} << QByteArray("cuda:1 is named twice");
    QTest::newRow("hidden") << QStringList{"--device", "cuda:0,cuda:2"}
                            << QByteArray("cuda:2 is not visible: CUDA_VISIBLE_DEVICES is \"0,1\"");
    QTest::newRow("workers") << QStringList{"--device", "cuda:0,cuda:1", "--workers", "3"}
                             << QByteArray("--workers: 3 is not accepted with 2 GPUs");
  }
  void saysWhatIsWrongWithTheCardsOfASweep() {
    QFETCH(QStringList, options);
    QFETCH(QByteArray, said);
    OnGpus here({.name = "a GPU", .memory_bytes = 8 * gb, .count = 2});
    here.set("CUDA_VISIBLE_DEVICES", "0,1");
    const Outcome swept =
        here.run(QStringList{"sweep", "--model", "mlp", "--data", "demo", "--batch", "2,4"} + options);
    QVERIFY2(swept.status == 2 && swept.err.contains(said), swept.shown());
    QVERIFY(!QFile::exists(here.path("default.db")));
  }

  void refusesABudgetAboveWhatIsFree() {
    const OnGpus here({.name = "a GPU", .memory_bytes = 4 * gb}, "context=1000000000");
    const Outcome refused = here.run(small + QStringList{"cuda:0", "--memory-budget", "3.5GB"});
    QCOMPARE(refused.status, 2);
    QVERIFY2(
        refused.err.contains("--memory-budget: 3.5 GB is more than the 3.0 GB that is free on cuda:0 now (of 4.0 GB)"),
        refused.shown());
    QCOMPARE(here.run(small + QStringList{"cuda:0", "--memory-budget", "2.5GB"}).status, 0);
  }

  /// In a run that begins with it, too, and after as many steps as the allocator needs to settle.
  void sizesFoundHold_data() {
    QTest::addColumn<QStringList>("options");
    const QString images = "synthetic:examples=20000,shape=3x32x32,classes=10",
                  texts = "synthetic:examples=6000,vocabulary=5000";
    QTest::newRow("llama") << QStringList{
        "--model", "llama:layers=4,heads=4,width=256,context=256", "--data", texts, "--memory-budget", "5GB"};
    QTest::newRow("gpt, checkpointing") << QStringList{"--model",         "gpt:layers=3,heads=4,width=128,context=128",
                                                       "--data",          texts,
                                                       "--memory-budget", "900MB",
                                                       "--precision",     "bf16",
                                                       "--checkpointing"};
    QTest::newRow("cnn") << QStringList{"--model", "cnn:width=32", "--data", images, "--memory-budget", "500MB"};
    QTest::newRow("vit, fp16") << QStringList{"--model",         "vit:layers=4,heads=4,width=128,patch=4",
                                              "--data",          images,
                                              "--memory-budget", "700MB",
                                              "--precision",     "fp16"};
  }
  void sizesFoundHold() {
    QFETCH(QStringList, options);
    const OnGpus here({.name = "a GPU", .memory_bytes = 40 * gb});
    options += {"--device", "cuda:0"};
    const Outcome found = here.run(QStringList{"find", "--json", "--no-timings"} + options);
    QVERIFY2(found.status == 0, found.shown());
    const int largest = found.json()["largest"].toInt();
    const auto trained = [&](int batch) {
      return here.run(QStringList{"train", "--batch", QString::number(batch), "--steps", "12", "--on-oom", "fail"} +
                      options);
    };
    const Outcome fits = trained(largest);
    QVERIFY2(fits.status == 0, fits.shown());
    QCOMPARE(trained(largest + 1).status, 1);
  }

  /// A program of the user's own runs on a pretended card, with its size in the command or told to it.
  void findsForACardThatIsNotHere_data() {
    QTest::addColumn<QString>("card");
    QTest::addColumn<QString>("batch");
    if (qEnvironmentVariableIsSet("BATCHSCOPE_TEST_LONG")) // starts the program for each size and each change
      QTest::newRow("in the command") << "rtx-3080-10gb"
                                      << "{batch}";
    QTest::newRow("told") << "t4"
                          << "16";
  }
  void findsForACardThatIsNotHere() {
    QFETCH(QString, card);
    QFETCH(QString, batch);
    const CliProgram program;
    QStringList find{"find", "--json", "--attach", "auto", "--for", card};
    if (batch != "{batch}")
      find << "--no-changes";
    const Outcome found = program.run(find + QStringList{"--"} + own_program("wide_gpt", batch, "cuda:0"));
    QVERIFY2(found.status == 0, found.shown());
    const QJsonObject answer = found.json();
    QCOMPARE(answer["for"].toString(), card);
    QVERIFY(answer["computed"].toBool() && answer["recommended"].isNull());
    const double largest = answer["largest"].toDouble(), safe = answer["safe"].toDouble();
    QVERIFY2(largest > 1 && safe <= largest, found.shown());
    QVERIFY(!QFile::exists(program.path("default.db"))); // nothing is stored
    // What fills the card is what the forward pass keeps.
    QVERIFY2(found.out.contains("activations"), found.shown());
    for (const auto& value : answer["probes"].toArray()) {
      const QJsonObject probe = value.toObject();
      QVERIFY2(probe["seconds"].isNull(), found.shown()); // no time means anything there
      if (probe["outcome"] == "fits")
        QVERIFY2(probe["reserved_bytes"].toDouble() >= probe["peak_bytes"].toDouble(), found.shown());
    }
    // The program trains so far without BatchScope, too, and no farther.
    QCOMPARE(status_alone(card, largest), 0);
    QCOMPARE(status_alone(card, largest + 1), 1);
    if (batch != "{batch}")
      return;
    const QJsonArray changes = answer["changes"].toArray();
    QVERIFY2(changes.size() >= 2, found.shown()); // of this one, the optimizer's state is a small part
    for (const auto& value : changes) {
      const QJsonObject change = value.toObject();
      QVERIFY2(change["why_not"].isNull(), found.shown());
      QVERIFY2(change["largest"].toDouble() > largest, found.shown());
      QVERIFY2(change["peak_bytes"].toDouble() < 0.98 * answer["budget_bytes"].toDouble(), found.shown());
    }
    const Outcome estimated = program.run(
        QStringList{"estimate", "--json", "--for", card, "--batch",
                    QString("%1,%2").arg(static_cast<int>(largest)).arg(static_cast<int>(largest) + 1), "--"} +
        own_program("wide_gpt", batch, "cuda:0"));
    QVERIFY2(estimated.status == 0, estimated.shown());
    const QJsonArray sizes = estimated.json()["sizes"].toArray();
    QCOMPARE(sizes.at(0)["outcome"].toString(), QString("fits"));
    QCOMPARE(sizes.at(1)["outcome"].toString(), QString("oom"));
    QVERIFY2(sizes.at(0)["by"]["activations"].toDouble() > 0, estimated.shown());
  }

  /// The process that makes the steps ends with whoever has asked it, also in the middle of one.
  void nothingIsLeftOfAKilledQuestion() {
    const CliProgram program;
    QProcess asking;
    program.start(asking, {"find", "--for", "h100-80gb", "--model", "gpt:layers=100,heads=16,width=1024,context=1024",
                           "--data", "synthetic:examples=20000,vocabulary=5000"});
    qint64 helper = 0, step = 0;
    QTRY_VERIFY_WITH_TIMEOUT((helper = child_of(asking.processId())) && (step = child_of(helper)), 60'000);
    asking.kill();
    asking.waitForFinished();
    for (const qint64 left : {helper, step})
      QTRY_VERIFY_WITH_TIMEOUT(!is_alive(left), 60'000);
  }

  /// One that makes as many steps as are looked at.
  void aShortProgramIsEnough() {
    const CliProgram program;
    QStringList command = own_program("small_gpt", "{batch}", "cuda:0");
    command.replaceInStrings("1000000", "4");
    const Outcome estimated =
        program.run(QStringList{"estimate", "--json", "--for", "l4", "--batch", "8", "--"} + command);
    QVERIFY2(estimated.status == 0, estimated.shown());
    QCOMPARE(estimated.json()["sizes"][0]["outcome"].toString(), QString("fits"));
    command[command.indexOf("loop") + 3] = "3";
    const Outcome shorter = program.run(QStringList{"estimate", "--for", "l4", "--batch", "8", "--"} + command);
    QVERIFY2(shorter.err.contains("too few steps with torch on the pretended GPU; accepted: 4 or more"),
             shorter.shown());
  }

  /// Batches that no loader makes, several a step: what each forward pass keeps are activations.
  void partsOfAStepAreToldApart() {
    const CliProgram program;
    const QString code = "import sys, torch\n"
                         "net = torch.nn.Sequential(*(torch.nn.Linear(512, 512) for _ in range(8))).cuda()\n"
                         "optimizer = torch.optim.AdamW(net.parameters())\n"
                         "for step in range(100):\n"
                         "    for part in range(3):\n"
                         "        net(torch.randn(int(sys.argv[1]), 512, device='cuda')).square().mean().backward()\n"
                         "    optimizer.step()\n"
                         "    optimizer.zero_grad()\n";
    const Outcome estimated = program.run({"estimate", "--json", "--for", "l4", "--batch", "20000", "--",
                                           qEnvironmentVariable("BATCHSCOPE_TEST_PYTHON"), "-c", code, "{batch}"});
    QVERIFY2(estimated.status == 0, estimated.shown());
    const auto by = estimated.json()["sizes"][0]["by"].toObject();
    const double weights = by["parameters"].toDouble(), outputs = 20000.0 * 512 * 4;
    QCOMPARE(weights, 8 * (512 * 512 + 512) * 4.0);
    QVERIFY2(by["gradients"].toDouble() < 1.1 * weights, estimated.shown());
    QVERIFY2(by["activations"].toDouble() + by["batch"].toDouble() > 7 * outputs, estimated.shown());
  }

  /// Of a size near the limit a program reads some batches if they have the same shapes, else all: the 13th would be
  /// too much. What it takes out of a batch is in the next one.
  void batchesOfTheSameShapesAreReadOnce_data() {
    QTest::addColumn<QString>("columns");
    QTest::addColumn<bool>("are_alike");
    QTest::newRow("alike") << "64" << true;
    QTest::newRow("of two lengths") << "64 if index < 10 * 4 else 65" << true; // they differ too late
    QTest::newRow("of many lengths") << "64 + index // 4" << false;
  }
  void batchesOfTheSameShapesAreReadOnce() {
    QFETCH(QString, columns);
    QFETCH(bool, are_alike);
    const CliProgram program;
    const QString code = "import sys, torch\n"
                         "class Data(torch.utils.data.Dataset):\n"
                         "    def __len__(self): return 4000\n"
                         "    def __getitem__(self, index):\n"
                         "        if index >= 4 * 12: torch.empty(100 << 30, dtype=torch.uint8, device='cuda')\n"
                         "        return {'x': torch.ones(" +
                         columns +
                         ")}\n"
                         "net = torch.nn.Linear(1, 8).cuda()\n"
                         "optimizer = torch.optim.SGD(net.parameters(), 0.1)\n"
                         "kept = torch.empty(18 << 30, dtype=torch.uint8, device='cuda')\n"
                         "for batch in torch.utils.data.DataLoader(Data(), int(sys.argv[1])):\n"
                         "    net(batch.pop('x').cuda()[..., None]).square().mean().backward()\n"
                         "    optimizer.step()\n"
                         "    optimizer.zero_grad()\n";
    const Outcome estimated = program.run({"estimate", "--json", "--for", "l4", "--batch", "4", "--",
                                           qEnvironmentVariable("BATCHSCOPE_TEST_PYTHON"), "-c", code, "{batch}"});
    QVERIFY2(estimated.status == 0, estimated.shown());
    QCOMPARE(estimated.json()["sizes"][0]["outcome"].toString(), QString(are_alike ? "fits" : "oom"));
  }

  /// The last batch of an epoch is far away, but what it leaves between tensors counts: one batch is as small.
  void theSmallerLastBatchIsMade_data() {
    QTest::addColumn<QString>("loader");
    QTest::addColumn<bool>("fits");
    QTest::newRow("smaller") << "torch.utils.data.DataLoader(torch.ones(4002, 64), int(sys.argv[1]))" << false;
    QTest::newRow("whole") << "torch.utils.data.DataLoader(torch.ones(4000, 64), int(sys.argv[1]))" << true;
    QTest::newRow("left out") << "torch.utils.data.DataLoader(torch.ones(4002, 64), int(sys.argv[1]), drop_last=True)"
                              << true;
  }
  void theSmallerLastBatchIsMade() {
    QFETCH(QString, loader);
    QFETCH(bool, fits);
    const CliProgram program;
    const QString code = "import sys, torch\n"
                         "net = torch.nn.Linear(64, 8).cuda()\n"
                         "optimizer = torch.optim.SGD(net.parameters(), 0.1)\n"
                         "kept = torch.empty(18 << 30, dtype=torch.uint8, device='cuda')\n"
                         "for batch in " +
                         loader +
                         ":\n"
                         "    if len(batch) == 2: torch.empty(100 << 30, dtype=torch.uint8, device='cuda')\n"
                         "    net(batch.cuda()).square().mean().backward()\n"
                         "    optimizer.step()\n"
                         "    optimizer.zero_grad()\n";
    const Outcome estimated = program.run({"estimate", "--json", "--for", "l4", "--batch", "4", "--",
                                           qEnvironmentVariable("BATCHSCOPE_TEST_PYTHON"), "-c", code, "{batch}"});
    QVERIFY2(estimated.status == 0, estimated.shown());
    QCOMPARE(estimated.json()["sizes"][0]["outcome"].toString(), QString(fits ? "fits" : "oom"));
  }

  /// Built-in models: the largest size that is computed trains on such a card, and one more does not, with the
  /// allocator as the user has set it.
  void computesForACardThatIsNotHere_data() {
    QTest::addColumn<QString>("allocator");
    for (const char* setting : {"", "expandable_segments:True", "max_split_size_mb:64", "roundup_power2_divisions:4"})
      QTest::newRow(setting) << setting;
  }
  void computesForACardThatIsNotHere() {
    QFETCH(QString, allocator);
    const QStringList run{"--model",     "gpt:layers=4,heads=8,width=512,context=512",
                          "--data",      "synthetic:examples=20000,vocabulary=5000",
                          "--precision", "bf16"};
    CliProgram program;
    OnGpus here(
        {.name = "NVIDIA T4", .memory_bytes = std::uint64_t{16} << 30, .capability = 75, .multiprocessors = 40});
    if (!allocator.isEmpty()) {
      program.set("PYTORCH_ALLOC_CONF", allocator);
      here.set("PYTORCH_ALLOC_CONF", allocator);
    }
    const Outcome found = program.run(QStringList{"find", "--json", "--for", "t4"} + run);
    QVERIFY2(found.status == 0, found.shown());
    const QJsonObject answer = found.json();
    QVERIFY2(answer["not_on_card"].isNull(), found.shown());
    QVERIFY(answer["reserved_bytes"].toDouble() <= answer["budget_bytes"].toDouble());
    const auto trained = [&](int batch) {
      return here
          .run(QStringList{"train", "--device", "cuda:0", "--steps", "6", "--on-oom", "fail", "--batch",
                           QString::number(batch), "--memory-budget",
                           QString::number(answer["budget_bytes"].toInteger()) + "B"} +
               run)
          .status;
    };
    QCOMPARE(trained(answer["largest"].toInt()), 0);
    QCOMPARE(trained(answer["largest"].toInt() + 1), 1);
  }

  /// Where it cannot be asked, the answer is that of `cpu`, and says why.
  void saysWhyACardWasNotAsked_data() {
    QTest::addColumn<QString>("card");
    QTest::addColumn<QByteArray>("variable");
    QTest::addColumn<QByteArray>("value");
    QTest::addColumn<QByteArray>("why");
    QTest::newRow("old card") << "v100-16gb" << QByteArray() << QByteArray()
                              << QByteArray("its compute capability is 7.0");
    QTest::newRow("another allocator") << "t4" << QByteArray("PYTORCH_ALLOC_CONF")
                                       << QByteArray("backend:cudaMallocAsync") << QByteArray("cudaMallocAsync");
    QTest::newRow("unknown key") << "t4" << QByteArray("PYTORCH_ALLOC_CONF") << QByteArray("nonsense:1")
                                 << QByteArray("Unrecognized key 'nonsense'");
    QTest::newRow("no cache") << "t4" << QByteArray("PYTORCH_NO_CUDA_MEMORY_CACHING") << QByteArray("1")
                              << QByteArray("unset PYTORCH_NO_CUDA_MEMORY_CACHING");
  }
  void saysWhyACardWasNotAsked() {
    QFETCH(QString, card);
    QFETCH(QByteArray, variable);
    QFETCH(QByteArray, value);
    QFETCH(QByteArray, why);
    CliProgram program;
    if (!variable.isEmpty())
      program.set(variable, value);
    const Outcome found = program.run({"find", "--json", "--model", "mlp", "--data", "demo", "--for", card});
    QVERIFY2(found.status == 0, found.shown());
    QVERIFY2(found.json()["not_on_card"].toString().toUtf8().contains(why), found.shown());
    QVERIFY(found.json()["reserved_bytes"].isNull());
  }

  /// It begins with what is known of a card like that, and needs one size to be sure and one that is the answer.
  void searchesInTwoRuns_data() {
    QTest::addColumn<QStringList>("options");
    const QString texts = "synthetic:examples=6000,vocabulary=5000";
    QTest::newRow("mlp") << QStringList{"--model", "mlp:hidden=2048", "--data",
                                        "synthetic:examples=100000,shape=3x32x32,classes=10"};
    QTest::newRow("gpt") << QStringList{"--model", "gpt:layers=4,width=256,heads=4,context=256", "--data", texts};
    QTest::newRow("llama") << QStringList{
        "--model",        "llama:layers=4,width=256,heads=4,context=256", "--data", texts, "--precision", "bf16",
        "--checkpointing"};
  }
  void searchesInTwoRuns() {
    QFETCH(QStringList, options);
    const OnGpus here({.name = "a GPU", .memory_bytes = 40 * gb});
    const Outcome found = here.run(
        QStringList{"find", "--json", "--no-timings", "--device", "cuda:0", "--memory-budget", "2GB"} + options);
    QVERIFY2(found.status == 0, found.shown());
    const QJsonArray probes = found.json()["probes"].toArray();
    QCOMPARE(probes.size(), 2);
    for (const QJsonValue& probe : probes) {
      QCOMPARE(probe["outcome"].toString(), QString("fits"));
      QVERIFY(std::abs(probe["predicted_bytes"].toDouble() / probe["peak_bytes"].toDouble() - 1) < 0.001);
    }
  }

  /// The optimizer's state, which the first update makes, lies beside what the first step has left for reuse.
  void aProgramsFirstStepLeavesRoomForTheSecond() {
    OnGpus here({.name = "a GPU", .memory_bytes = 80 * gb}, {}, pretended_gpu::Torch::python);
    QStringList command = own_program("encoder", "48", "cuda:0");
    command[command.indexOf("1000000")] = "6";
    const Outcome trained = here.run(QStringList{"run", "--attach", "auto", "--device", "cuda:0", "--memory-budget",
                                                 "8GB", "--batch", "48", "--on-oom", "fail", "--json", "--"} +
                                     command);
    QVERIFY2(trained.status == 0, trained.shown());
    QCOMPARE(trained.json()["steps"].toInt(), 6);
  }

  void saysWhyACardCannotBePretended() {
    const CliProgram program;
    const auto error = [&](const QString& card, const QString& device) {
      return program
          .run(QStringList{"find", "--attach", "auto", "--for", card, "--"} + own_program("small_gpt", "8", device))
          .err;
    };
    QVERIFY(
        error("v100-16gb", "cuda:0").contains("--for: torch has no kernels for v100-16gb, whose compute capability"));
    QVERIFY(error("24GB", "cuda:0").contains("--for: a memory size says too little of a GPU"));
    QVERIFY(error("l4", "cpu").contains("the program trains on \"cpu\""));
    const QString python = qEnvironmentVariable("BATCHSCOPE_TEST_PYTHON");
    const Outcome none = program.run({"find", "--for", "l4", "--", python, "-c", "print(1)"});
    QVERIFY2(none.status == 1 && none.err.contains("too few steps with torch on the pretended GPU"), none.shown());
    const Outcome broken = program.run({"find", "--for", "l4", "--", python, "-c", "import nothing_of_that_name"});
    QVERIFY2(broken.status == 1 && broken.err.contains("nothing_of_that_name"), broken.shown());
  }

  /// Operators without a deterministic implementation would be refused, and the run would say that it goes on without.
  void modelsAreDeterministic_data() {
    QTest::addColumn<QString>("model");
    QTest::addColumn<QString>("data");
    const QString images = "synthetic:examples=100,shape=3x32x32,classes=4",
                  texts = "synthetic:examples=100,vocabulary=50";
    for (const char* model : {"mlp", "cnn:width=8", "resnet", "vit"})
      QTest::newRow(model) << model << images;
    for (const char* model : {"gpt", "llama", "bert"})
      QTest::newRow(model) << model << texts;
  }
  void modelsAreDeterministic() {
    QFETCH(QString, model);
    QFETCH(QString, data);
    const OnGpus here({.name = "a GPU", .memory_bytes = 4 * gb});
    for (const char* precision : {"fp32", "bf16", "fp16"}) {
      const Outcome trained = here.run({"train", "--model", model, "--data", data, "--batch", "8", "--steps", "2",
                                        "--dropout", "0.1", "--precision", precision, "--device", "cuda:0"});
      QVERIFY2(trained.status == 0, trained.shown());
      QVERIFY2(!trained.err.contains("deterministic"), trained.shown());
    }
    for (const char* run : {"1", "2", "3"}) {
      const Outcome shown = here.run({"show", run});
      QVERIFY2(shown.status == 0 && !shown.out.contains("the same seed"), shown.shown());
    }
  }
};

BATCHSCOPE_TEST(TestCommandLine)
#include "tst_command_line.moc"
