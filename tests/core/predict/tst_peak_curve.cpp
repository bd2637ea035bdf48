#include <QTest>

#include <random>

#include "core/base/json.h"
#include "core/predict/peak_curve.h"
#include "test_program.h"

using namespace batchscope::predict;
using namespace batchscope::telemetry;

namespace {

constexpr std::uint64_t granularity = 64;

/// A made-up network whose blocks are affine in the batch.
class Network {
public:
  explicit Network(std::mt19937& random) : start_(random() % 3'000'000) {
    layers_.resize(1 + random() % 30);
    for (Layer& layer : layers_)
      layer = {random() % 200'000, random() % 20'000, random() % 20'000, random() % 200'000};
  }

  Trace trace_at(std::int64_t batch) const {
    Trace trace;
    trace.batch = batch;
    trace.granularity = granularity;
    trace.start_bytes = start_;
    trace.start_bytes_by[static_cast<int>(Use::parameters)] = start_;
    std::uint32_t blocks = 0;
    const auto allocate = [&](Phase phase, std::uint64_t bytes) {
      trace.events.push_back({blocks, true, phase, bytes});
      return blocks++;
    };
    const auto release = [&](Phase phase, std::uint32_t block) { trace.events.push_back({block, false, phase, 0}); };
    const auto input = allocate(Phase::batch, 3000 * batch);
    std::vector<std::uint32_t> alive, gradients;
    for (const Layer& layer : layers_)
      alive.push_back(allocate(Phase::forward, layer.per_example * batch + 7));
    for (const Layer& layer : layers_) {
      gradients.push_back(allocate(Phase::backward, layer.weights));
      const auto scratch = allocate(Phase::backward, layer.scratch * batch);
      const auto fixed = allocate(Phase::backward, layer.fixed_scratch);
      release(Phase::backward, scratch);
      release(Phase::backward, fixed);
      release(Phase::backward, alive.back());
      alive.pop_back();
    }
    release(Phase::backward, input);
    for (const auto gradient : gradients)
      release(Phase::update, gradient);
    return trace;
  }

  MemoryModel model() const { return {trace_at(8), trace_at(16)}; }
  /// All that rounding each block up to the allocator's sizes can make.
  std::uint64_t rounding() const { return granularity * (4 * layers_.size() + 1); }

private:
  struct Layer {
    std::uint64_t weights, per_example, scratch, fixed_scratch;
  };
  std::vector<Layer> layers_;
  std::uint64_t start_;
};

std::uint64_t sum(const PeakCurve::Point& point) {
  std::uint64_t bytes = 0;
  for (const std::uint64_t part : point.by)
    bytes += part;
  return bytes;
}

} // namespace

class TestPeakCurve : public QObject {
  Q_OBJECT

private Q_SLOTS:
  void followsTheModel();
  void beginsAndEndsWhereItIsTold();
  void goesOnBeyondItsEnd();
  void keepsGradientsOfEarlierMicroBatches();
  void splitsAsTheLoopDoes();
  void saysWhenNothingFits();
  void jsonKeepsEverything();
  void columnsAreKnownByName();
  void otherTextsAreNone_data();
  void otherTextsAreNone();
};

/// Straight lines between a few sizes are above the model by 0.2 % at most, and below it by rounding alone.
void TestPeakCurve::followsTheModel() {
  std::mt19937 random(3);
  double worst = 0;
  for (int round = 0; round < 100; ++round) {
    const Network network(random);
    const MemoryModel model = network.model();
    const std::int64_t highest = 1 + static_cast<std::int64_t>(random() % 200'000);
    const PeakCurve curve(model, highest, 0.01);
    QVERIFY(curve.points().size() <= 64);
    for (int i = 0; i < 100; ++i) {
      const std::int64_t batch = 1 + static_cast<std::int64_t>(random() % (i % 2 ? highest : std::min(highest, 500L)));
      const Peak peak = model.peak(batch);
      const PeakCurve::Point point = curve.at(batch);
      const std::string text = "round " + std::to_string(round) + ", batch " + std::to_string(batch);
      for (const auto& [line, real] :
           {std::pair(point.bytes, peak.bytes), std::pair(point.onto_gradients, peak.onto_gradients)}) {
        QVERIFY2(line + network.rounding() >= real, text.c_str());
        QVERIFY2(static_cast<double>(line) <= 1.002 * static_cast<double>(real + network.rounding()), text.c_str());
        worst = std::max(worst, static_cast<double>(line) / static_cast<double>(real) - 1);
      }
      const double missing = static_cast<double>(sum(point)) - static_cast<double>(point.bytes);
      QVERIFY2(std::abs(missing) <= use_count, text.c_str());
    }
  }
  qInfo("at most %.3f %% above the model", 100 * worst);
}

void TestPeakCurve::beginsAndEndsWhereItIsTold() {
  std::mt19937 random(4);
  const MemoryModel model = Network(random).model();
  for (const std::int64_t highest : {1L, 2L, 3L, 16L, 17L, 1000L, 1'000'000'000L}) {
    const PeakCurve curve(model, highest, 0);
    QCOMPARE(curve.points().front().batch, std::int64_t{1});
    QCOMPARE(curve.points().back().batch, std::max(highest, 2L));
    for (std::size_t i = 1; i < curve.points().size(); ++i)
      QVERIFY(curve.points()[i].batch > curve.points()[i - 1].batch);
    for (const auto& point : curve.points())
      QCOMPARE(point.bytes, model.peak(point.batch).bytes);
    for (std::int64_t batch = 1; batch <= std::min(highest, 16L); ++batch)
      QCOMPARE(curve.at(batch).bytes, model.peak(batch).bytes);
  }
}

void TestPeakCurve::goesOnBeyondItsEnd() {
  std::mt19937 random(5);
  const Network network(random);
  const MemoryModel model = network.model();
  const PeakCurve curve(model, 5000, 0);
  const auto real = static_cast<double>(model.peak(20'000).bytes);
  QVERIFY(std::abs(static_cast<double>(curve.at(20'000).bytes) / real - 1) < 0.01);
}

/// A step with one layer, worked out by hand: weights 1000, activation 10 an example, scratch 5 an example.
void TestPeakCurve::keepsGradientsOfEarlierMicroBatches() {
  const auto trace_at = [](std::int64_t batch) {
    Trace trace;
    trace.batch = batch;
    trace.granularity = 1;
    trace.start_bytes = 1000;
    const auto n = static_cast<std::uint64_t>(batch);
    trace.events = {{0, true, Phase::forward, 10 * n},   {1, true, Phase::backward, 5 * n},
                    {1, false, Phase::backward, 5 * n},  {2, true, Phase::backward, 1000},
                    {0, false, Phase::backward, 10 * n}, {2, false, Phase::update, 1000}};
    return trace;
  };
  const MemoryModel model(trace_at(8), trace_at(16));
  // Small: the peak is where the gradient comes, beside the activation. Held, there are two of it.
  QCOMPARE(model.peak(100).bytes, std::uint64_t{1000 + 1000 + 1000});
  QCOMPARE(model.peak(100).onto_gradients, std::uint64_t{1000 + 1000 + 1000 + 1000});
  // Large: it is the scratch beside the activation, and only what is held comes to it.
  QCOMPARE(model.peak(1000).bytes, std::uint64_t{1000 + 15'000});
  QCOMPARE(model.peak(1000).onto_gradients, std::uint64_t{1000 + 15'000 + 1000});
}

/// Whole where it fits; else the fewest parts, as even as can be, of which each fits: found by trying all numbers.
void TestPeakCurve::splitsAsTheLoopDoes() {
  std::mt19937 random(7);
  int splits = 0;
  for (int round = 0; round < 300; ++round) {
    const Network network(random);
    const PeakCurve curve(network.model(), 600, 0);
    const std::int64_t batch = 1 + static_cast<std::int64_t>(random() % 600);
    const std::uint64_t limit = curve.at(1 + static_cast<std::int64_t>(random() % 600)).onto_gradients;
    const Split split = curve.split(batch, limit);
    if (curve.at(batch).bytes <= limit) {
      QCOMPARE(split.micro_batches, std::int64_t{1});
      QCOMPARE(split.micro_batch, batch);
      QCOMPARE(split.bytes, curve.at(batch).bytes);
      continue;
    }
    ++splits;
    std::int64_t parts = 2;
    while (curve.at((batch + parts - 1) / parts).onto_gradients > limit)
      ++parts;
    QVERIFY(split.fits);
    QCOMPARE(split.micro_batches, parts);
    QCOMPARE(split.micro_batch, (batch + parts - 1) / parts);
    QCOMPARE(split.bytes, curve.at(split.micro_batch).onto_gradients);
    QVERIFY(split.bytes <= limit);
  }
  QVERIFY(splits > 50);
}

void TestPeakCurve::saysWhenNothingFits() {
  std::mt19937 random(8);
  const PeakCurve curve(Network(random).model(), 600, 0);
  const Split split = curve.split(100, 10);
  QVERIFY(!split.fits);
  QCOMPARE(split.micro_batch, std::int64_t{1});
  QCOMPARE(split.micro_batches, std::int64_t{100});
  QVERIFY(!curve.split(1, 10).fits);
}

void TestPeakCurve::jsonKeepsEverything() {
  std::mt19937 random(9);
  for (const std::int64_t highest : {1L, 50L, 100'000L}) {
    const PeakCurve curve(Network(random).model(), highest, 0.0123);
    const std::string text = curve.to_json();
    QVERIFY2(text.size() < 12'000, text.c_str());
    const auto read = PeakCurve::from_json(text);
    QVERIFY(read.has_value());
    QCOMPARE(read->to_json(), text);
    QCOMPARE(read->error(), 0.0123);
    QCOMPARE(read->points().size(), curve.points().size());
    QCOMPARE(read->at(33).bytes, curve.at(33).bytes);
    QCOMPARE(read->at(33).onto_gradients, curve.at(33).onto_gradients);
    QVERIFY(read->at(33).by == curve.at(33).by);
  }
}

void TestPeakCurve::columnsAreKnownByName() {
  // The first versions had no names; a later one may know further uses of memory.
  const auto first =
      PeakCurve::from_json(R"({"error":0.01,"points":[[1,100,110,1,2,3,4,5,85],[2,200,210,1,2,3,4,5,185]]})");
  QVERIFY(first && first->at(2).bytes == 200);
  batchscope::Json json = batchscope::parse_json(first->to_json());
  json["new"] = 1;
  json["columns"].insert(json["columns"].begin() + 1, "kernels");
  for (batchscope::Json& row : json["points"])
    row.insert(row.begin() + 1, 7);
  const auto read = PeakCurve::from_json(batchscope::json_text(json));
  QVERIFY(read);
  QCOMPARE(read->to_json(), first->to_json());
  json["columns"][2] = "octets";
  QVERIFY(!PeakCurve::from_json(batchscope::json_text(json)));
}

void TestPeakCurve::otherTextsAreNone_data() {
  QTest::addColumn<QByteArray>("text");
  for (const char* text : {"", "null", "[]", "{}", "{\"error\":0}", "{\"error\":0,\"points\":3}",
                           "{\"error\":0,\"points\":[]}", "{\"error\":0,\"points\":[[1,2,3,0,0,0,0,0,0]]}",
                           "{\"error\":-1,\"points\":[[1,2,3,0,0,0,0,0,0],[2,2,3,0,0,0,0,0,0]]}",
                           "{\"error\":null,\"points\":[[1,2,3,0,0,0,0,0,0],[2,2,3,0,0,0,0,0,0]]}",
                           "{\"error\":0,\"points\":[[1,2,3,0,0,0,0,0,0],[1,2,3,0,0,0,0,0,0]]}",
                           "{\"error\":0,\"points\":[[2,2,3,0,0,0,0,0,0],[3,2,3,0,0,0,0,0,0]]}",
                           "{\"error\":0,\"points\":[[1,2,3,0,0,0,0,0],[2,2,3,0,0,0,0,0]]}",
                           "{\"error\":0,\"points\":[[1,-2,3,0,0,0,0,0,0],[2,2,3,0,0,0,0,0,0]]}",
                           "{\"error\":0,\"points\":[[1,2.5,3,0,0,0,0,0,0],[2,2,3,0,0,0,0,0,0]]}",
                           "{\"error\":0,\"points\":[[1,18446744073709551615,3,0,0,0,0,0,0],[2,2,3,0,0,0,0,0,0]]}",
                           "{\"error\":0,\"points\":[[1,2,3,0,0,0,0,0,0],7]}"})
    QTest::newRow(text) << QByteArray(text);
}

void TestPeakCurve::otherTextsAreNone() {
  QFETCH(QByteArray, text);
  QVERIFY(!PeakCurve::from_json(text.toStdString()));
}

BATCHSCOPE_TEST(TestPeakCurve)
#include "tst_peak_curve.moc"
