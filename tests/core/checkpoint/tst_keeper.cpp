#include "core/checkpoint/keeper.h"

#include <QTemporaryDir>
#include <QTest>

#include <future>

#include "checkpoint_test.h"
#include "core/base/error.h"
#include "core/checkpoint/folder.h"
#include "test_program.h"

using namespace batchscope;
using namespace batchscope::checkpoint;
using namespace batchscope::checkpoint::test;

namespace {

Checkpoint scored(std::int64_t step, std::optional<double> loss, std::optional<double> accuracy) {
  Checkpoint checkpoint = small_checkpoint(step);
  checkpoint.label.validation_loss = loss;
  checkpoint.label.validation_accuracy = accuracy;
  return checkpoint;
}

} // namespace

class TestKeeper : public QObject {
  Q_OBJECT

private Q_SLOTS:
  void init() {
    directory_ = std::make_unique<QTemporaryDir>();
    folder_ = std::filesystem::path(directory_->path().toStdString()) / "runs.db-checkpoints" / "uid";
  }

  void keepsTheNewestTwoAndTheBest() {
    {
      Keeper keeper(folder_);
      QVERIFY(!std::filesystem::exists(folder_)); // before there is anything to keep
      const auto keep = [&](const Checkpoint& checkpoint) {
        keeper.keep(checkpoint);
        keeper.wait();
        return steps();
      };
      using Steps = QList<qint64>;
      QCOMPARE(keep(scored(10, 0.9, 0.5)), Steps({10}));
      QCOMPARE(keep(scored(20, 2.0, 0.8)), Steps({20, 10}));
      QCOMPARE(keep(scored(30, 0.1, 0.7)), Steps({30, 20})); // the accuracy counts, not the loss
      QCOMPARE(keep(scored(40, {}, {})), Steps({40, 30, 20}));
      QCOMPARE(keep(scored(50, {}, {})), Steps({50, 40, 20}));
      QCOMPARE(keep(scored(60, 0.5, 0.8)), Steps({60, 50})); // as good, and newer
      QCOMPARE(keep(scored(70, std::nan(""), std::nan(""))), Steps({70, 60}));
    }
    Keeper later(folder_); // as after a resumption: it finds what was kept
    later.keep(scored(80, {}, {}));
    later.keep(scored(90, {}, {}));
    later.wait();
    QCOMPARE(steps(), QList<qint64>({90, 80, 60}));
    QCOMPARE(later.take_reports().size(), std::size_t{2});
    QVERIFY(later.take_reports().empty());
  }

  void withoutAccuracyTheLossCounts() {
    Keeper keeper(folder_);
    for (const auto& [step, loss] : {std::pair(1, 0.5), std::pair(2, 0.3), std::pair(3, 0.4), std::pair(4, 0.6)}) {
      keeper.keep(scored(step, loss, {}));
      keeper.wait();
    }
    QCOMPARE(steps(), QList<qint64>({4, 3, 2}));
  }

  void whoGivesCheckpointsNeverWaitsForTheDisk() {
    std::promise<void> disk;
    const std::shared_future<void> ready = disk.get_future().share();
    Keeper keeper(folder_, [ready] { ready.wait(); });
    for (std::size_t i = 0; i < Keeper::most_waiting; ++i) {
      QVERIFY(!keeper.full());
      keeper.keep(small_checkpoint(static_cast<std::int64_t>(i) + 1));
    }
    QVERIFY(keeper.full());
    QVERIFY(keeper.take_reports().empty());
    disk.set_value();
    keeper.wait();
    QVERIFY(!keeper.full());
    QCOMPARE(steps(), QList<qint64>({2, 1}));
    QCOMPARE(keeper.take_reports().front().bytes, std::filesystem::file_size(file_of_step(folder_, 1)));
  }

  void aFailureIsReportedAndKeepsWhatIsThere() {
    int calls = 0;
    Keeper keeper(folder_, [&] {
      if (++calls == 2)
        throw Error(Error::Kind::failed, "the records could not be stored");
    });
    for (const std::int64_t step : {1, 2, 3}) {
      keeper.keep(small_checkpoint(step));
      keeper.wait();
    }
    const auto reports = keeper.take_reports();
    QCOMPARE(reports.size(), std::size_t{3});
    QVERIFY(reports[0].problem.empty() && reports[2].problem.empty());
    QCOMPARE(reports[1].problem, std::string("the records could not be stored"));
    QCOMPARE(steps(), QList<qint64>({3, 1}));
  }

  void aFolderThatCannotBeMadeIsReported() {
    std::filesystem::create_directories(folder_.parent_path().parent_path());
    write_bytes(folder_.parent_path(), "a file in its place");
    Keeper keeper(folder_);
    keeper.keep(small_checkpoint());
    keeper.wait();
    const auto reports = keeper.take_reports();
    QCOMPARE(reports.size(), std::size_t{1});
    QVERIFY(reports[0].problem.find("cannot be made") != std::string::npos);
  }

  void whatAKilledProcessLeftIsRemoved() {
    std::filesystem::create_directories(folder_);
    write_bytes(folder_ / ".step-5.safetensors.77.unfinished", "half");
    write_bytes(folder_ / "step-4.safetensors", "not a checkpoint"); // never the best
    write_bytes(folder_ / "notes.txt", "the user's");
    Keeper keeper(folder_);
    for (const std::int64_t step : {6, 7}) {
      keeper.keep(small_checkpoint(step));
      keeper.wait();
    }
    QCOMPARE(steps(), QList<qint64>({7, 6}));
    QVERIFY(!std::filesystem::exists(folder_ / ".step-5.safetensors.77.unfinished"));
    QVERIFY(std::filesystem::exists(folder_ / "notes.txt"));
  }

private:
  QList<qint64> steps() const {
    QList<qint64> steps;
    for (const File& file : files_in(folder_))
      steps += file.step;
    return steps;
  }

  std::unique_ptr<QTemporaryDir> directory_;
  std::filesystem::path folder_;
};

BATCHSCOPE_TEST(TestKeeper)
#include "tst_keeper.moc"
