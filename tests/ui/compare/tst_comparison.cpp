#include <QTest>

#include <cmath>
#include <limits>

#include "core/base/error.h"
#include "test_program.h"
#include "ui/compare/compare_test.h"
#include "ui/compare/comparison_view.h"
#include "ui/compare/field_axis.h"
#include "ui/compare/parallel_axes.h"
#include "ui/compare/run_scope.h"

using namespace batchscope;
using namespace batchscope::ui;
using namespace batchscope::ui::test;

/// What a comparison consists of: columns, groups, filter and axes.
class TestComparison : public QObject {
  Q_OBJECT

private Q_SLOTS:
  void hasSettingsResultsAndSeries() {
    const Comparison comparison = make_comparison(compared_sweep());
    QCOMPARE(comparison.fields.front().key, QString("batch")); // before the other settings
    QCOMPARE(field(comparison, "seed").different, 3);
    QCOMPARE(field(comparison, "model").different, 1);
    QCOMPARE(field(comparison, "lr").text(0), QString("0.001"));
    QCOMPARE(field(comparison, "result:peak_bytes").text(0), QString("16.0 MB"));
    QCOMPARE(field(comparison, "result:validation_accuracy").unit(), QString("%"));
    QCOMPARE(field(comparison, "loss:min").numbers.front(), 0.25);
    QCOMPARE(field(comparison, "loss:last").title, QString("loss last"));
    QCOMPARE(comparison.field("name"), -1);
    QCOMPARE(comparison.compared.groups.size(), std::size_t(8));
  }

  void ranksValuesOfAnyKind() {
    auto runs = compared_sweep();
    runs[0].run.spec["batch"] = "25%"; // a share of the largest size, beside numbers
    runs[1].run.spec.erase("lr");
    runs[2].run.row.outcome.validation_loss = std::numeric_limits<double>::quiet_NaN();
    const Comparison comparison = make_comparison(runs);
    const CompareField& batch = field(comparison, "batch");
    QVERIFY(batch.ordinal);
    QCOMPARE(batch.ranks[0], batch.different - 1); // texts after numbers
    QCOMPARE(field(comparison, "lr").ranks[1], -1);
    QVERIFY(!field(comparison, "lr").ordinal);
    QCOMPARE(field(comparison, "lr").text(1), QString());
    QCOMPARE(field(comparison, "result:validation_loss").ranks[2], -1);
    // Equal values have equal ranks, and larger ones larger ranks.
    const CompareField& peak = field(comparison, "result:peak_bytes");
    for (std::size_t a = 0; a < runs.size(); ++a)
      for (std::size_t b = 0; b < runs.size(); ++b)
        QCOMPARE(peak.numbers[a] < peak.numbers[b], peak.ranks[a] < peak.ranks[b]);
  }

  /// Arguments of a program are texts.
  void textsOfNumbersAreNumbers() {
    auto runs = compared_sweep();
    const char* const texts[] = {"16", "8", "1e-3", "8"};
    for (std::size_t i = 0; i < runs.size(); ++i)
      runs[i].run.spec["--size"] = texts[i % 4];
    const Comparison comparison = make_comparison(runs);
    const CompareField& size = field(comparison, "--size");
    QVERIFY(!size.ordinal);
    QCOMPARE(size.numbers[0], 16.0);
    QCOMPARE(size.text(2), QString("1e-3"));
    QVERIFY(size.ranks[2] < size.ranks[1] && size.ranks[1] < size.ranks[0]);
    runs[0].run.spec["--size"] = "large";
    QVERIFY(field(make_comparison(runs), "--size").ordinal);
  }

  void groupsRunsByRepeatsAndByField() {
    const Comparison comparison = make_comparison(compared_sweep());
    const RunGroups repeats = group_by(comparison, "repeats");
    QCOMPARE(repeats.groups.size(), std::size_t(8));
    QCOMPARE(group_name(comparison, repeats, 0), QString("batch size 16, lr 0.001"));
    const RunGroups sizes = group_by(comparison, "batch");
    QCOMPARE(sizes.groups.size(), std::size_t(4));
    QCOMPARE(sizes.groups[3].size(), std::size_t(6));
    QCOMPARE(group_name(comparison, sizes, 3), QString("batch size 1024"));
    QCOMPARE(group_by(comparison, "no such field").groups.size(), std::size_t(24));
  }

  void filters_data() {
    QTest::addColumn<QString>("text");
    QTest::addColumn<int>("left");
    QTest::newRow("nothing") << "" << 24;
    QTest::newRow("setting") << "batch >= 256" << 12;
    QTest::newRow("two") << "batch >= 256 and lr = 0.01" << 6;
    QTest::newRow("unit") << "peak < 100MB" << 12;
    QTest::newRow("short name") << "accuracy > 94%" << 12;
    QTest::newRow("id") << "id <= 5" << 5;
    QTest::newRow("series") << "loss.min < 1" << 24;
    QTest::newRow("status") << "status = failed" << 0;
    QTest::newRow("tag") << "tag = best" << 2;
    QTest::newRow("words") << "BATCH 64" << 6;
    QTest::newRow("no such words") << "resnet" << 0;
  }
  void filters() {
    QFETCH(QString, text);
    auto runs = compared_sweep();
    runs[3].run.row.tags = runs[7].run.row.tags = {"best", "old"};
    const Comparison comparison = make_comparison(runs);
    QTEST(int(CompareFilter(comparison, text).apply().runs.size()), "left");
  }

  void refusesAFilterWithItsReason() {
    const Comparison comparison = make_comparison(compared_sweep());
    try {
      const CompareFilter filter(comparison, "colour = red");
      QFAIL("accepted");
    } catch (const Error& error) {
      QVERIFY2(QString(error.what()).contains("colour"), error.what());
      QVERIFY2(QString(error.what()).contains("batch"), error.what());
    }
  }

  /// On every axis larger values lie higher (lower if it is flipped), from 0 to 1.
  void placesValuesOnAxes() {
    std::mt19937 random(7);
    for (int round = 0; round < 200; ++round) {
      std::vector<ReadRun> runs = compared_sweep();
      for (ReadRun& run : runs)
        run.run.row.outcome.loss = std::exp(std::normal_distribution(0.0, 3.0)(random));
      const Comparison comparison = make_comparison(runs);
      const bool flipped = random() % 2 == 0;
      const auto scale = random() % 2 == 0 ? FieldAxis::Scale::log : FieldAxis::Scale::linear;
      const FieldAxis axis(field(comparison, "result:loss"), everything(comparison), scale, flipped);
      double low = 2, high = -1;
      for (std::size_t a = 0; a < runs.size(); ++a) {
        const auto place = axis.place(a);
        QVERIFY(place && *place >= -1e-12 && *place <= 1 + 1e-12);
        low = std::min(low, *place);
        high = std::max(high, *place);
        for (std::size_t b = 0; b < runs.size(); ++b)
          if (runs[a].run.row.outcome.loss < runs[b].run.row.outcome.loss)
            QVERIFY(flipped ? *place >= *axis.place(b) : *place <= *axis.place(b));
      }
      QVERIFY(std::abs(low) < 1e-12 && std::abs(high - 1) < 1e-12);
      QCOMPARE(axis.log(), scale == FieldAxis::Scale::log);
    }
  }

  void choosesAxesThatSaySomething() {
    ComparisonView view;
    auto comparison = std::make_shared<const Comparison>(make_comparison(compared_sweep()));
    view.set_comparison(comparison, everything(*comparison));
    ParallelAxes axes;
    axes.rebuild(view);
    QStringList keys;
    for (const ParallelAxes::Axis& axis : axes.axes())
      keys << axis.axis.key();
    QCOMPARE(keys, (QStringList{"batch", "lr", "result:peak_bytes", "result:examples_per_second", "result:seconds",
                                "result:validation_loss", "result:validation_accuracy"}));
    QVERIFY(axes.axes().front().axis.log()); // 16 to 1024
    // What the user chooses stays, also when the runs change, and survives a restart.
    QVERIFY(axes.remove(2));
    axes.rebuild(view);
    QVERIFY(axes.add("loss:last"));
    axes.rebuild(view);
    QVERIFY(axes.flip(1));
    axes.rebuild(view);
    ParallelAxes again;
    again.restore(axes.state());
    view.set_visible({0, 1, 2});
    again.rebuild(view);
    QCOMPARE(again.axes().size(), axes.axes().size());
    QCOMPARE(again.axes().back().axis.key(), QString("loss:last"));
    QVERIFY(again.axes()[1].axis.flipped());
  }

  void brushesAcrossAxesAndMissingValues() {
    auto runs = compared_sweep();
    runs[23].run.row.outcome.validation_accuracy.reset();
    ComparisonView view;
    auto comparison = std::make_shared<const Comparison>(make_comparison(runs));
    view.set_comparison(comparison, everything(*comparison));
    ParallelAxes axes;
    axes.rebuild(view);
    QVERIFY(axes.has_missing());
    axes.brush(0, std::pair(0.9, 1.0)); // batch 1024
    QCOMPARE(axes.inside(view).size(), std::size_t(6));
    axes.brush(1, std::pair(0.0, 0.5)); // and lr 0.001
    QCOMPARE(axes.inside(view).size(), std::size_t(3));
    axes.clear_brushes();
    axes.brush(int(axes.axes().size()) - 1, std::pair(ParallelAxes::missing_place, 0.0 - 1e-6));
    QCOMPARE(axes.inside(view), std::vector<std::size_t>{23});
  }

  void keepsMarksThroughNewRunsAndFilters() {
    ComparisonView view;
    auto runs = compared_sweep();
    auto comparison = std::make_shared<const Comparison>(make_comparison(runs));
    view.set_comparison(comparison, everything(*comparison));
    QCOMPARE(view.emphasized().size(), runs.size()); // without marks all stand out
    QCOMPARE(view.look(0), view.look(1));            // repeats look alike
    QVERIFY(view.look(0) != view.look(3));
    const auto before = view.look(5);
    view.mark({4, 5}, nullptr);
    QCOMPARE(view.emphasized(), (std::vector<std::size_t>{4, 5}));
    QCOMPARE(view.look(5), before);
    runs.insert(runs.begin(), compared_run(100, 8, 0.001, 1));
    comparison = std::make_shared<const Comparison>(make_comparison(runs));
    view.set_comparison(comparison, everything(*comparison));
    QCOMPARE(view.marked_runs(), (std::vector<std::size_t>{5, 6}));
    view.set_visible({0, 1, 6});
    QCOMPARE(view.emphasized(), std::vector<std::size_t>{6});
  }
};

BATCHSCOPE_TEST(TestComparison)
#include "tst_comparison.moc"
