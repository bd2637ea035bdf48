#include <QAbstractItemModelTester>
#include <QSignalSpy>
#include <QTest>

#include "test_program.h"
#include "ui/find/probe_model.h"

using namespace batchscope;
using namespace batchscope::ui;

namespace {

ProbeRow fitting(int number, std::int64_t batch, std::uint64_t peak) {
  return {.number = number, .batch = batch, .predicted = {}, .real = peak};
}

search::Probe probe(std::int64_t batch, search::Outcome outcome, std::uint64_t peak) {
  search::Probe probe;
  probe.batch = batch;
  probe.outcome = outcome;
  probe.peak_bytes = peak;
  return probe;
}

/// 10 MB, and one more MB an example.
predict::PeakCurve straight_curve() {
  return *predict::PeakCurve::from_json(
      R"({"error":0.01,"points":[[1,11000000,11000000,0,0,0,11000000,0,0],[64,74000000,74000000,0,0,0,74000000,0,0]]})");
}

/// 8 fits, 100 does not, 90 does; 72 settled the safe size.
SearchView finished_search() {
  SearchView view;
  view.state = Job::State::done;
  view.budget = 100'000'000;
  search::SearchResult result;
  result.found = true;
  result.largest = 90;
  result.safe = 72;
  view.result = std::make_shared<search::SearchResult>(result);
  view.probes = {probe(8, search::Outcome::fits, 18'000'000), probe(100, search::Outcome::out_of_memory, 99'000'000),
                 probe(90, search::Outcome::fits, 100'000'000)};
  view.checks = {probe(72, search::Outcome::fits, 80'000'000)};
  return view;
}

} // namespace

class TestProbeModel : public QObject {
  Q_OBJECT

private Q_SLOTS:
  void rows_that_come_keep_what_is_chosen();
  void another_search_replaces_all();
  void rows_say_what_came_of_each_run();
  void the_size_above_the_answer_is_a_row_only_where_it_is_predicted();
  void peaks_are_measured_before_they_are_predicted();
  void a_sequence_is_cut_in_its_middle();
  void bytes_are_in_megabytes();
};

void TestProbeModel::rows_that_come_keep_what_is_chosen() {
  const Theme theme;
  ProbeModel model(theme);
  const QAbstractItemModelTester tester(&model, QAbstractItemModelTester::FailureReportingMode::QtTest);
  model.set_rows({fitting(1, 8, 1'000'000)});
  const QPersistentModelIndex chosen = model.index(0, ProbeModel::batch);
  QSignalSpy resets(&model, &QAbstractItemModel::modelReset);
  model.set_rows({fitting(1, 8, 1'000'000), fitting(2, 16, 2'000'000), fitting(3, 32, 4'000'000)});
  model.set_rows({fitting(1, 8, 1'000'000), fitting(2, 16, 2'000'000), fitting(3, 32, 4'000'000)});
  QCOMPARE(resets.size(), 0);
  QCOMPARE(model.rowCount(), 3);
  QVERIFY(chosen.isValid());
  QCOMPARE(chosen.data().toString(), QString("8"));
  QCOMPARE(model.row_of_number(3), 2);
  QCOMPARE(model.row_of_number(4), -1);
  QCOMPARE(model.row_of_number(0), -1);
}

void TestProbeModel::another_search_replaces_all() {
  const Theme theme;
  ProbeModel model(theme);
  const QAbstractItemModelTester tester(&model, QAbstractItemModelTester::FailureReportingMode::QtTest);
  model.set_rows({fitting(1, 8, 1'000'000), fitting(2, 16, 2'000'000)});
  QSignalSpy resets(&model, &QAbstractItemModel::modelReset);
  model.set_rows({fitting(1, 8, 1'000'000), fitting(2, 12, 1'500'000), fitting(3, 16, 2'000'000)});
  QCOMPARE(resets.size(), 1);
  QCOMPARE(model.rowCount(), 3);
  model.set_rows({fitting(1, 8, 1'000'000)});
  QCOMPARE(model.rowCount(), 1);
  model.set_rows({});
  QCOMPARE(model.rowCount(), 0);
}

void TestProbeModel::rows_say_what_came_of_each_run() {
  SearchView view = finished_search();
  view.probes.push_back(probe(91, search::Outcome::error, 0));
  view.probes.back().message = "the kernel refused";
  const Theme theme;
  ProbeModel model(theme);
  model.set_rows(rows_of(view));
  QCOMPARE(model.rowCount(), 5);
  const auto text = [&](int row, int column) { return model.index(row, column).data().toString(); };
  QCOMPARE(text(0, ProbeModel::result), QString("fits"));
  QCOMPARE(text(0, ProbeModel::real), QString("18.0"));
  QCOMPARE(text(1, ProbeModel::result), QString("OOM"));
  QCOMPARE(text(1, ProbeModel::real), QString("–")); // in use when it was refused says nothing of what it needs
  QCOMPARE(text(3, ProbeModel::result), QString("failed"));
  QCOMPARE(model.index(3, 0).data(Qt::ToolTipRole).toString(), QString("the kernel refused"));
  QCOMPARE(text(4, ProbeModel::number), QString("5"));
  QCOMPARE(text(4, ProbeModel::batch), QString("72"));
  QVERIFY(model.index(4, 0).data(Qt::ToolTipRole).toString().contains("safe"));
  QCOMPARE(model.index(1, ProbeModel::result).data(Qt::ForegroundRole).value<QColor>(), theme.color(Role::error));
  QCOMPARE(model.index(0, ProbeModel::result).data(Qt::ForegroundRole).value<QColor>(), theme.color(Role::good));
}

void TestProbeModel::the_size_above_the_answer_is_a_row_only_where_it_is_predicted() {
  SearchView view = finished_search();
  QCOMPARE(rows_of(view).size(), std::size_t(4));
  view.memory = straight_curve();
  const auto rows = rows_of(view);
  QCOMPARE(rows.size(), std::size_t(5));
  QCOMPARE(rows.back().batch, std::int64_t(91));
  QCOMPARE(rows.back().number, 0);
  QCOMPARE(*rows.back().predicted, std::uint64_t(101'000'000));
  QVERIFY(rows.back().result == ProbeRow::Result::not_run);
  // Where it is expected to fit, something else has ended the search.
  view.budget = 200'000'000;
  QCOMPARE(rows_of(view).size(), std::size_t(4));
  // Nor is it a row where it was run.
  view.budget = 100'000'000;
  view.probes.push_back(probe(91, search::Outcome::out_of_memory, 0));
  QCOMPARE(rows_of(view).size(), std::size_t(5));
}

void TestProbeModel::peaks_are_measured_before_they_are_predicted() {
  SearchView view = finished_search();
  QCOMPARE(peak_at(view, 72)->bytes, std::uint64_t(80'000'000));
  QVERIFY(peak_at(view, 72)->measured);
  QVERIFY(!peak_at(view, 50));
  QVERIFY(!peak_at(view, 100)); // it did not fit
  view.memory = straight_curve();
  QCOMPARE(peak_at(view, 50)->bytes, std::uint64_t(60'000'000));
  QVERIFY(!peak_at(view, 50)->measured);
  QCOMPARE(*largest_so_far(view), std::int64_t(90));
  QCOMPARE(out_of_memory_runs(view.probes), 1);
}

void TestProbeModel::a_sequence_is_cut_in_its_middle() {
  std::vector<search::Probe> probes;
  QCOMPARE(sequence_of(probes), QString());
  for (const std::int64_t batch : {2, 4, 8, 16})
    probes.push_back(probe(batch, search::Outcome::fits, 0));
  QCOMPARE(sequence_of(probes), QString("2 4 8 16"));
  probes.push_back(probe(32, search::Outcome::out_of_memory, 0));
  QCOMPARE(sequence_of(probes), QString("2 4 8 … 32"));
}

void TestProbeModel::bytes_are_in_megabytes() {
  const Theme theme;
  ProbeModel model(theme);
  ProbeRow row = fitting(1, 8, 12'345'678'000);
  row.predicted = 1'234'500'000;
  model.set_rows({row});
  for (const auto& [column, text] : {std::pair{ProbeModel::predicted, "1,234.5"}, {ProbeModel::real, "12,345.7"}}) {
    QVERIFY(model.headerData(column, Qt::Horizontal, Qt::DisplayRole).toString().endsWith(" MB"));
    QCOMPARE(model.index(0, column).data().toString(), QString(text));
  }
}

BATCHSCOPE_TEST(TestProbeModel)
#include "tst_probe_model.moc"
