#include <QTest>

#include <functional>
#include <random>

#include "core/predict/alignment.h"
#include "core/predict/memory_model.h"
#include "test_program.h"

using namespace batchscope::predict;
using namespace batchscope::telemetry;

namespace {

/// Writes a trace as an allocator would.
class TraceMaker {
public:
  TraceMaker(std::int64_t batch, std::uint64_t start) {
    trace_.batch = batch;
    trace_.start_bytes = start;
    trace_.start_bytes_by[static_cast<int>(Use::parameters)] = start;
    in_use_ = trace_.peak_bytes = start;
  }
  std::uint32_t allocate(Phase phase, std::uint64_t bytes) {
    const auto block = static_cast<std::uint32_t>(sizes_.size());
    sizes_.push_back((bytes + 63) / 64 * 64);
    trace_.events.push_back({block, true, phase, bytes});
    in_use_ += sizes_.back();
    trace_.peak_bytes = std::max(trace_.peak_bytes, in_use_);
    return block;
  }
  void begin_with(Use use, std::uint64_t bytes) {
    trace_.start_bytes += bytes;
    trace_.start_bytes_by[static_cast<int>(use)] += bytes;
    in_use_ = trace_.peak_bytes = trace_.start_bytes;
  }
  void free_from_before(Phase phase, std::uint64_t bytes) {
    trace_.events.push_back({block_from_before, false, phase, bytes});
    in_use_ -= bytes;
  }
  void free(Phase phase, std::uint32_t block) {
    trace_.events.push_back({block, false, phase, sizes_[block]});
    in_use_ -= sizes_[block];
  }
  Trace take() { return trace_; }

private:
  Trace trace_;
  std::vector<std::uint64_t> sizes_;
  std::uint64_t in_use_ = 0;
};

/// A made-up step: a large fixed block in the update, activations that grow. The peak moves from the update to the
/// backward pass as the batch grows, which is where a straight line through two peaks fails.
Trace moving_peak(std::int64_t batch) {
  TraceMaker maker(batch, 4000);
  const auto input = maker.allocate(Phase::batch, 100 * batch);
  const auto activation = maker.allocate(Phase::forward, 1000 * batch + 12);
  const auto scratch = maker.allocate(Phase::forward, 50 * batch);
  maker.free(Phase::forward, scratch);
  const auto gradient = maker.allocate(Phase::backward, 3000);
  const auto workspace = maker.allocate(Phase::backward, 400 * batch);
  maker.free(Phase::backward, workspace);
  maker.free(Phase::backward, activation);
  maker.free(Phase::backward, input);
  const auto update = maker.allocate(Phase::update, 200'000);
  maker.free(Phase::update, update);
  maker.free(Phase::update, gradient);
  return maker.take();
}

} // namespace

class TestMemoryModel : public QObject {
  Q_OBJECT

private Q_SLOTS:
  void foretellsPeaksThatMoveBetweenPhases() {
    const MemoryModel model(moving_peak(8), moving_peak(16));
    QCOMPARE(model.unmatched(), 0.0);
    for (const std::int64_t batch : {1, 8, 16, 33, 100, 133, 134, 400, 5000}) {
      const Peak peak = model.peak(batch);
      QCOMPARE(peak.bytes, moving_peak(batch).peak_bytes);
    }
  }

  /// Each example against all others: a loss with negatives within the batch.
  void blocksOfPairsGrowAsTheSquare() {
    const auto trace_of = [](std::int64_t batch) {
      TraceMaker maker(batch, 4000);
      const auto input = maker.allocate(Phase::batch, 100 * batch);
      const auto similarities = maker.allocate(Phase::forward, 4 * batch * batch);
      const auto scratch = maker.allocate(Phase::forward, 8 * batch);
      maker.free(Phase::backward, scratch);
      maker.free(Phase::backward, similarities);
      maker.free(Phase::backward, input);
      return maker.take();
    };
    const MemoryModel model(trace_of(16), trace_of(48));
    QCOMPARE(model.unmatched(), 0.0);
    for (const std::int64_t batch : {1, 8, 100, 1'000, 4'321})
      QCOMPARE(model.peak(batch).bytes, trace_of(batch).peak_bytes);
  }

  void saysWhatFillsTheMemory() {
    const Peak peak = MemoryModel(moving_peak(8), moving_peak(16)).peak(1000);
    QCOMPARE(peak.by[static_cast<int>(Use::parameters)], std::uint64_t{4000});
    QCOMPARE(peak.by[static_cast<int>(Use::batch)], std::uint64_t{100'032});
    QCOMPARE(peak.by[static_cast<int>(Use::activations)], std::uint64_t{1'000'064});
    QCOMPARE(peak.by[static_cast<int>(Use::gradients)], std::uint64_t{3008});
    QCOMPARE(peak.by[static_cast<int>(Use::workspace)], std::uint64_t{400'000});
    std::uint64_t sum = 0;
    for (const std::uint64_t part : peak.by)
      sum += part;
    QCOMPARE(sum, peak.bytes);
  }

  /// A step that begins with the gradients of the one before, frees them and makes new ones.
  void followsGradientsFromBefore() {
    constexpr std::uint64_t gradients = 6400;
    const auto make = [](std::int64_t batch) {
      TraceMaker maker(batch, 4000);
      maker.begin_with(Use::gradients, gradients);
      maker.free_from_before(Phase::batch, gradients);
      const auto activation = maker.allocate(Phase::forward, 1024 * batch);
      maker.allocate(Phase::backward, gradients);
      maker.free(Phase::backward, activation);
      return maker.take();
    };
    const MemoryModel model(make(8), make(16));
    for (const std::int64_t batch : {8, 16, 100}) {
      const Peak peak = model.peak(batch);
      QCOMPARE(peak.bytes, make(batch).peak_bytes);
      QCOMPARE(peak.by[static_cast<int>(Use::gradients)], gradients);
      QCOMPARE(peak.by[static_cast<int>(Use::activations)], static_cast<std::uint64_t>(1024 * batch));
    }
  }

  void findsTheLargestBatchWithinABudget() {
    const MemoryModel model(moving_peak(8), moving_peak(16));
    for (const std::uint64_t budget : {210'000u, 300'000u, 1'000'000u}) {
      const std::int64_t largest = model.largest_within(budget, 1, 100'000);
      QVERIFY(moving_peak(largest).peak_bytes <= budget);
      QVERIFY(moving_peak(largest + 1).peak_bytes > budget);
    }
    QCOMPARE(model.largest_within(1000, 5, 100), std::int64_t{4});
    QCOMPARE(model.largest_within(UINT64_MAX, 5, 100), std::int64_t{100});
  }

  void alignsTracesOfWhichOneHasMoreBlocks() {
    // Kernels ask for a few more blocks as the batch grows.
    const auto make = [](std::int64_t batch) {
      TraceMaker maker(batch, 0);
      std::vector<std::uint32_t> alive;
      for (int layer = 0; layer < 50; ++layer) {
        alive.push_back(maker.allocate(Phase::forward, (100 + layer) * batch));
        if (batch >= 16 && layer % 10 == 3)
          maker.free(Phase::forward, maker.allocate(Phase::forward, 4096));
      }
      for (const std::uint32_t block : alive)
        maker.free(Phase::backward, block);
      return maker.take();
    };
    const MemoryModel model(make(8), make(16));
    QVERIFY(model.unmatched() > 0 && model.unmatched() < 0.2);
    for (const std::int64_t batch : {33, 400})
      QCOMPARE(model.peak(batch).bytes, make(batch).peak_bytes);
  }

  void alignmentIsALongestCommonSubsequence() {
    // Against plain dynamic programming, over random lists.
    std::mt19937 random(11);
    for (int round = 0; round < 200; ++round) {
      const auto make = [&] {
        std::vector<Allocation> list(random() % 30);
        for (Allocation& allocation : list)
          allocation = {Phase::forward, 1000u << (4 * (random() % 4))};
        return list;
      };
      const auto small = make(), large = make();
      const auto counterpart = align(small, large, 2.0);
      std::size_t matched = 0;
      std::size_t next = 0;
      for (std::size_t i = 0; i < large.size(); ++i) {
        if (counterpart[i] == no_counterpart)
          continue;
        QVERIFY(counterpart[i] >= next && counterpart[i] < small.size());
        QCOMPARE(small[counterpart[i]].bytes, large[i].bytes);
        next = counterpart[i] + 1;
        ++matched;
      }
      std::vector<std::vector<std::size_t>> best(small.size() + 1, std::vector<std::size_t>(large.size() + 1, 0));
      for (std::size_t i = 1; i <= small.size(); ++i) {
        for (std::size_t j = 1; j <= large.size(); ++j)
          best[i][j] = small[i - 1].bytes == large[j - 1].bytes ? best[i - 1][j - 1] + 1
                                                                : std::max(best[i - 1][j], best[i][j - 1]);
      }
      QVERIFY2(matched == best.back().back(), qPrintable(QStringLiteral("round %1").arg(round)));
    }
  }
};

BATCHSCOPE_TEST(TestMemoryModel)
#include "tst_memory_model.moc"
