#include <QTemporaryDir>
#include <QTest>

#include <filesystem>
#include <numeric>
#include <set>

#include <ATen/ops/ones.h>
#include <ATen/ops/rand.h>
#include <ATen/ops/zeros.h>
#include <caffe2/serialize/inline_container.h>

#include "core/base/error.h"
#include "core/checkpoint/folder.h"
#include "core/model/detail/model.h"
#include "core/train/detail/dry_run.h"
#include "core/train/detail/trials.h"
#include "run_helpers.h"
#include "test_program.h"
#include "tests/core/checkpoint/checkpoint_test.h"
#include "tests/core/model/script_file.h"

using namespace batchscope;
using namespace batchscope::run;

namespace fs = std::filesystem;

namespace {

using test::NamedTensors;
using test::save_script;

/// With dropout and batch norm, which have state of their own.
const char* const stateful_source = R"(
def forward(self, x: Tensor) -> Tensor:
    y = torch.conv2d(x, self.conv, None, [2, 2], [1, 1], [1, 1], 1)
    y = torch.batch_norm(y, self.weight, self.bias, self.mean, self.variance, self.training, 0.1, 1e-05, False)
    y = torch.dropout(torch.relu(y), 0.3, self.training)
    return torch.linear(torch.flatten(y, 1), self.output, None)
)";

/// Each row of an image is a token.
const char* const attention_source = R"(
def forward(self, x: Tensor) -> Tensor:
    y = torch.linear(torch.squeeze(x, 1), self.w)
    y = torch.transpose(torch.reshape(y, [-1, 16, 2, 8]), 1, 2)
    y = torch.gelu(torch.scaled_dot_product_attention(y, y, y))
    return torch.linear(torch.mean(torch.reshape(torch.transpose(y, 1, 2), [-1, 16, 16]), [1]), self.o)
)";

NamedTensors stateful_parameters() {
  return {{"conv", at::rand({4, 1, 3, 3}) - 0.5},
          {"weight", at::ones({4})},
          {"bias", at::zeros({4})},
          {"output", at::rand({4, 256}) - 0.5}};
}

NamedTensors stateful_buffers() {
  return {{"mean", at::zeros({4})}, {"variance", at::ones({4})}};
}

/// The initial weights of a built-in model.
NamedTensors weights_of(const RunSpec& spec) {
  const data::DataSplit data = data::open_data(spec.data);
  return model::make_model(parse_model(spec.model), data.train->shape(), 0, spec.seed, at::kCPU)->state();
}

/// A folder with files that are made in it.
struct Files {
  QTemporaryDir folder;
  std::string path(const char* name) const { return folder.filePath(name).toStdString(); }
  /// The same network as the spec's, as a script.
  RunSpec script_of(RunSpec spec, const char* source) const {
    save_script(path("net.pt"), source, weights_of(spec));
    spec.model = "torchscript:" + path("net.pt");
    return spec;
  }
  RunSpec stateful(RunSpec spec) const {
    save_script(path("net.pt"), stateful_source, stateful_parameters(), stateful_buffers());
    spec.model = "torchscript:" + path("net.pt");
    return spec;
  }
};

std::vector<double> losses(const FinishedRun& run) {
  std::vector<double> all;
  for (const auto& record : run.recorded.records)
    all.push_back(record.loss);
  return all;
}

std::string refusal(const RunSpec& spec) {
  try {
    open_session(spec);
  } catch (const Error& error) {
    return (error.kind() == Error::Kind::input ? "" : "another kind: ") + std::string(error.what());
  }
  return {};
}

} // namespace

/// A network that the user wrote and saved goes the way of the built-in ones.
class TestTorchScript : public QObject {
  Q_OBJECT

private Q_SLOTS:
  void trainsAsTheSameNetworkBuiltIn_data() {
    QTest::addColumn<QString>("model");
    QTest::addColumn<QString>("source");
    QTest::addColumn<QString>("json");
    QTest::newRow("cnn") << "cnn:width=8" << test::cnn_source << "{}";
    QTest::newRow("mlp, accumulation") << "mlp:hidden=16" << test::mlp_source << R"({"accumulate": 3})";
    QTest::newRow("cnn, bf16, averages") << "cnn:width=8" << test::cnn_source
                                         << R"({"precision": "bf16", "ema": 0.9, "clip": 1})";
  }
  void trainsAsTheSameNetworkBuiltIn() {
    QFETCH(QString, model);
    QFETCH(QString, source);
    QFETCH(QString, json);
    RunSpec spec = run_spec_from_json(json.toStdString(), small_spec(40, 12));
    spec.model = model.toStdString();
    const Files files;
    const FinishedRun built_in = run_to_end(spec);
    const FinishedRun script = run_to_end(files.script_of(spec, qPrintable(source)));
    QCOMPARE(losses(script), losses(built_in));
    QCOMPARE(script.outcome.validation_loss, built_in.outcome.validation_loss);
    QVERIFY2(relative(static_cast<double>(script.outcome.peak_bytes),
                      static_cast<double>(built_in.outcome.peak_bytes)) < 0.005,
             qPrintable(QStringLiteral("%1, %2").arg(script.outcome.peak_bytes).arg(built_in.outcome.peak_bytes)));
  }

  void findsTheSameSizes() {
    RunSpec spec = small_spec(8, 1);
    spec.memory_budget = 2'000'000;
    const auto largest = [](const RunSpec& of) { return open_session(of)->find({.timings = false}).largest; };
    const auto expected = largest(spec);
    QVERIFY(expected && *expected > 20 && *expected < 500);
    QCOMPARE(largest(Files().script_of(spec, test::cnn_source)), expected);
  }

  /// In the forward pass the error comes as TorchScript's own type, in the backward pass as LibTorch's.
  void memoryRunsOutInBothPasses_data() {
    QTest::addColumn<bool>("stateful");
    QTest::addColumn<int>("phase");
    QTest::newRow("batch norm and dropout") << true << int(telemetry::Phase::forward);
    QTest::newRow("wide") << false << int(telemetry::Phase::backward);
  }
  void memoryRunsOutInBothPasses() {
    QFETCH(bool, stateful);
    QFETCH(int, phase);
    const Files files;
    RunSpec spec = small_spec(8, 1);
    spec.model = "mlp:hidden=1000";
    spec = stateful ? files.stateful(spec) : files.script_of(spec, test::mlp_source);
    std::vector<std::int64_t> indices(500);
    std::iota(indices.begin(), indices.end(), 0);
    const train::MicroBatch all(indices);
    std::set<telemetry::Phase> phases;
    bool fits = false;
    for (std::uint64_t budget = stateful ? 600'000 : 5'000'000; !fits; budget += 200'000) {
      const auto device = memory::open_device("cpu", budget);
      train::Learner learner(spec, data::open_data(spec.data), *device);
      QVERIFY(!learner.attempt({all.first(8)}).out_of_memory);
      learner.update(0.0, 0.0, {}); // creates the optimizer's state
      const std::uint64_t in_use = device->readings().in_use;
      const auto before = learner.snapshot();
      const train::Attempt attempt = learner.attempt({all});
      fits = !attempt.out_of_memory;
      if (fits)
        continue;
      phases.insert(attempt.info.phase);
      QCOMPARE(attempt.failed.size(), all.size());
      QCOMPARE(device->readings().in_use, in_use);
      const auto after = learner.snapshot();
      QVERIFY(after->generator.equal(before->generator));
      for (std::size_t i = 0; i < after->buffers.size(); ++i)
        QVERIFY(after->buffers[i].equal(before->buffers[i]));
    }
    QVERIFY(phases.contains(static_cast<telemetry::Phase>(phase)));
  }

  void trainsOnAfterRunningOutOfMemory() {
    const Files files;
    RunSpec spec = files.script_of(small_spec(120, 10), test::cnn_source);
    const FinishedRun roomy = run_to_end(spec);
    QVERIFY(roomy.recorded.details("oom").empty());
    spec.memory_budget = 1'500'000;
    const FinishedRun tight = run_to_end(spec);
    QVERIFY(!tight.recorded.details("oom").empty());
    QCOMPARE(tight.outcome.examples_seen, roomy.outcome.examples_seen);
    const auto expected = losses(roomy), found = losses(tight);
    QCOMPARE(found.size(), expected.size());
    for (std::size_t i = 0; i < found.size(); ++i)
      QVERIFY2(relative(found[i], expected[i]) < 1e-4, qPrintable(QString::number(found[i] - expected[i])));
  }

  void dryRunsTakeWhatStepsTake_data() {
    QTest::addColumn<bool>("attends");
    QTest::addColumn<QString>("precision");
    QTest::newRow("fp32") << false << "fp32";
    QTest::newRow("bf16") << false << "bf16";
    QTest::newRow("attention") << true << "fp32";
    QTest::newRow("attention, bf16") << true << "bf16";
  }
  void dryRunsTakeWhatStepsTake() {
    QFETCH(bool, attends);
    QFETCH(QString, precision);
    const Files files;
    RunSpec spec = files.stateful(small_spec(8, 1));
    if (attends)
      save_script(files.path("net.pt"), attention_source, {{"w", at::rand({16, 16}) - 0.5}, {"o", at::rand({4, 16})}});
    spec.precision = precision.toStdString();
    const data::DataSplit data = data::open_data(spec.data);
    const auto device = memory::open_device("cpu", 400'000'000);
    train::Learner learner(spec, data, *device);
    train::LearnerTrials trials(learner,
                                {.sampler = {.examples = data.train->size(), .ranks = 1}, .learning_rate = 0.01});
    const auto dry_run = train::make_dry_run(spec, data.train->shape(), data.train->size());
    for (const std::int64_t batch : {7, 64, 250}) {
      const auto real = static_cast<double>(*trials.run({batch, true, {}}).peak_bytes);
      const auto dry = static_cast<double>(dry_run->trace(batch).peak_bytes);
      QVERIFY2(relative(dry, real) < 0.005, qPrintable(QStringLiteral("%1: %2, %3").arg(batch).arg(dry).arg(real)));
    }
    QCOMPARE(dry_run->parameter_count(), learner.parameter_count());
  }

  void resumesToTheSameBits() {
    const Files files;
    RunSpec spec = files.stateful(small_spec(40, 20));
    spec.checkpoint_every = 1000;
    const fs::path folder = files.path("checkpoints");
    const auto run = [&](const fs::path& database, std::int64_t stop_after, bool resume) {
      const std::string uid(32, 'a');
      const auto newest = [&] { return checkpoint::files_in(checkpoint::folder_of_run(database, uid)).at(0).path; };
      struct Stopped : Recorded {
        RunControl control;
        std::int64_t after = 0;
        void record(const telemetry::StepRecord& record) override {
          if (record.step == after)
            control.stop();
        }
      } sink;
      sink.after = stop_after;
      const auto session = open_session(spec);
      if (resume)
        session->restore(checkpoint::read(newest()), {});
      session->set_place(
          {.run = 1, .uid = uid, .database = database, .spec_json = {}, .flush = {}, .start_changed = {}});
      session->run(sink, sink.control);
      return checkpoint::read(newest());
    };
    const checkpoint::Checkpoint whole = run(folder / "whole", 0, false);
    run(folder / "parts", 7, false);
    const checkpoint::Checkpoint parts = run(folder / "parts", 0, true);
    QCOMPARE(QString::fromStdString(checkpoint::test::difference(parts, whole)), QString());
    // Another network of the same shape is not the one that the run began with.
    files.stateful(spec);
    const auto session = open_session(spec);
    try {
      session->restore(whole, {});
      QFAIL("took a checkpoint of another file");
    } catch (const Error& error) {
      QVERIFY2(std::string(error.what()).find("has changed") != std::string::npos, error.what());
    }
  }

  void saysThatItHasBatchNorm() {
    const Files files;
    QCOMPARE(open_session(files.stateful(small_spec(8, 1)))->start().notes.size(), std::size_t{1});
    QVERIFY(open_session(files.script_of(small_spec(8, 1), test::cnn_source))->start().notes.empty());
  }

  /// The file lists tied weights twice.
  void trainsTiedWeightsAsOne() {
    const Files files;
    const at::Tensor shared = (at::rand({4, 4}) - 0.5).set_requires_grad(true);
    torch::jit::Module module("Net");
    module.register_parameter("first", (at::rand({4, 256}) - 0.5).set_requires_grad(true), false);
    module.register_parameter("second", shared, false);
    module.register_parameter("third", shared, false);
    module.define(R"(
def forward(self, x: Tensor) -> Tensor:
    y = torch.linear(torch.flatten(x, 1), self.first)
    return torch.linear(torch.linear(y, self.second), self.third)
)");
    module.save(files.path("tied.pt"));
    RunSpec spec = small_spec(8, 1);
    spec.model = "torchscript:" + files.path("tied.pt");
    QCOMPARE(open_session(spec)->start().parameters, std::int64_t{4 * 256 + 16});
  }

  /// As recurrent layers have them.
  void trainsWeightsThatAreInAList() {
    const Files files;
    const at::Tensor weight = (at::rand({4, 256}) - 0.5).set_requires_grad(true);
    torch::jit::Module module("Net");
    module.register_attribute("all", c10::ListType::ofTensors(), c10::List<at::Tensor>({weight}));
    module.register_parameter("weight", weight, false);
    module.define(R"(
def forward(self, x: Tensor) -> Tensor:
    return torch.linear(torch.flatten(x, 1), self.all[0])
)");
    module.save(files.path("list.pt"));
    RunSpec spec = small_spec(50, 20);
    spec.model = "torchscript:" + files.path("list.pt");
    const FinishedRun run = run_to_end(spec);
    QCOMPARE(open_session(spec)->start().parameters, std::int64_t{4 * 256});
    QVERIFY(run.recorded.records.back().loss < run.recorded.records.front().loss);
  }

  void takesText() {
    const Files files;
    save_script(files.path("text.pt"), R"(
def forward(self, x: Tensor) -> Tensor:
    return torch.linear(torch.embedding(self.tokens, x), self.output)
)",
                {{"tokens", at::rand({20, 8})}, {"output", at::rand({20, 8})}});
    RunSpec spec = small_spec(8, 3);
    spec.data = "synthetic:examples=625,vocabulary=20";
    spec.model = "torchscript:" + files.path("text.pt") + ",context=12";
    const FinishedRun run = run_to_end(spec);
    QCOMPARE(run.outcome.steps, std::int64_t{3});
    spec.data = "synthetic:examples=625,vocabulary=30"; // more tokens than the script knows
    QVERIFY2(refusal(spec).find("[3, 12, 30]") != std::string::npos, refusal(spec).c_str());
  }

  void refusesWhatItCannotTrain_data() {
    QTest::addColumn<QString>("source");
    QTest::addColumn<QString>("says");
    QTest::newRow("other shape") << "def forward(self, x: Tensor) -> Tensor:\n  return torch.linear(x, self.w)\n"
                                 << "returns Float [3, 1, 16, 4]; the data need Float [3, 4]";
    QTest::newRow("fails") << "def forward(self, x: Tensor) -> Tensor:\n  return torch.mm(x, self.w)\n"
                           << "fails on a batch of [3, 1, 16, 16]: mm: self must be a matrix";
    QTest::newRow("two inputs") << "def forward(self, x: Tensor, y: Tensor) -> Tensor:\n  return x + y + self.w\n"
                                << "takes 2 arguments";
    QTest::newRow("a tuple") << "def forward(self, x: Tensor) -> Tuple[Tensor, Tensor]:\n  return x, self.w\n"
                             << "returns (Tensor, Tensor)";
    QTest::newRow("no forward") << "def other(self, x: Tensor) -> Tensor:\n  return x\n"
                                << "has no forward()";
    QTest::newRow("state") << "def forward(self, x: Tensor) -> Tensor:\n  self.w = self.w + 1\n  return x + self.w\n"
                           << "assigns to the attribute \"w\"";
    QTest::newRow("whole numbers") << "def forward(self, x: Tensor) -> Tensor:\n"
                                      "  return torch.sum(torch.linear(x, self.w), [1, 2]).to(4)\n"
                                   << "returns Long [3, 4]";
    QTest::newRow("no gradient") << "def forward(self, x: Tensor) -> Tensor:\n  return torch.sum(x, [1, 2])[:, 0:4]\n"
                                 << "\"w\" has no effect on the output";
    QTest::newRow("raises") << "def forward(self, x: Tensor) -> Tensor:\n  assert torch.numel(x) == 0, 'not today'\n"
                               "  return x\n"
                            << "not today";
  }
  void refusesWhatItCannotTrain() {
    QFETCH(QString, source);
    QFETCH(QString, says);
    const Files files;
    save_script(files.path("net.pt"), source.toStdString(), {{"w", at::rand({4, 16})}});
    RunSpec spec = small_spec(8, 1);
    spec.model = "torchscript:" + files.path("net.pt");
    const QString text = QString::fromStdString(refusal(spec));
    QVERIFY2(text.startsWith("--model: ") && text.contains(says) && !text.contains('\n'), qPrintable(text));
  }

  void refusesOtherFiles() {
    const Files files;
    const auto refused = [&](const std::string& file, const char* says) {
      RunSpec spec = small_spec(8, 1);
      spec.model = "torchscript:" + file;
      const QString text = QString::fromStdString(refusal(spec));
      const bool good = text.contains(says) && text.contains(QString::fromStdString(file)) && !text.contains('\n');
      return good ? QString() : QStringLiteral("\"%1\" for %2").arg(text, says);
    };
    QCOMPARE(refused(files.path("missing.pt"), "no such file"), QString());
    checkpoint::test::write_bytes(files.path("text.pt"), "import torch\n");
    QCOMPARE(refused(files.path("text.pt"), "not a TorchScript file"), QString());

    files.stateful(small_spec(8, 1));
    const std::string whole = checkpoint::test::bytes_of(files.path("net.pt"));
    for (const std::size_t bytes : {std::size_t{4}, whole.size() / 2, whole.size() - 10}) {
      checkpoint::test::write_bytes(files.path("cut.pt"), whole.substr(0, bytes));
      QCOMPARE(refused(files.path("cut.pt"), "cut off or damaged"), QString());
    }
    {
      caffe2::serialize::PyTorchStreamWriter other(files.path("other.pt"));
      other.writeRecord("data.pkl", "weights", 7);
      other.writeEndOfFile();
    }
    QCOMPARE(refused(files.path("other.pt"), "not of TorchScript"), QString());
    save_script(files.path("empty.pt"), "def forward(self, x: Tensor) -> Tensor:\n  return x\n", {});
    QCOMPARE(refused(files.path("empty.pt"), "has no parameters"), QString());
  }

  /// LibTorch believes what the list of tensors says of their sizes, and would read beyond their bytes.
  void refusesTensorsLargerThanTheirRecords() {
    const Files files;
    RunSpec spec = files.stateful(small_spec(8, 1));
    caffe2::serialize::PyTorchStreamReader reader(files.path("net.pt"));
    caffe2::serialize::PyTorchStreamWriter writer(files.path("lies.pt"));
    for (const std::string& name : reader.getAllRecords()) {
      if (name == "version" || name.starts_with(".data/"))
        continue; // the writer has its own
      const auto [data, size] = reader.getRecord(name);
      std::string bytes(static_cast<const char*>(data.get()), size);
      if (name == "data.pkl") {
        const std::string count{'K', 4 * 3 * 3}; // the convolution's, as a pickled number
        const std::size_t at = bytes.find(count);
        QVERIFY(at != std::string::npos);
        bytes[at + 1] = 100;
      }
      writer.writeRecord(name, bytes.data(), bytes.size());
    }
    writer.writeEndOfFile();
    spec.model = "torchscript:" + files.path("lies.pt");
    QVERIFY2(refusal(spec).find("is larger than its record") != std::string::npos, refusal(spec).c_str());
  }

  /// Damaged bytes anywhere in the file: it is refused, or loads something that trains; it never ends the program.
  void damagedFilesNeverEndTheProgram() {
    const Files files;
    RunSpec spec = files.stateful(small_spec(8, 1));
    const std::string whole = checkpoint::test::bytes_of(files.path("net.pt"));
    for (std::size_t at = 7; at < whole.size(); at += whole.size() / (test::sanitized ? 20 : 150)) {
      std::string damaged = whole;
      damaged[at] = static_cast<char>(damaged[at] ^ 0x15);
      checkpoint::test::write_bytes(files.path("net.pt"), damaged);
      const std::string text = refusal(spec);
      QVERIFY2(text.find('\n') == std::string::npos && text.find("another kind") == std::string::npos, text.c_str());
    }
  }
};

BATCHSCOPE_TEST(TestTorchScript)
#include "tst_torchscript.moc"
