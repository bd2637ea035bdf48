#include <optional>
#include <sstream>
#include <tuple>

#include <QTest>

#include "core/exchange/export.h"
#include "core/store/run_reader.h"
#include "core/store/run_store.h"
#include "test_program.h"
#include "tests/core/store/store_test.h"

using namespace batchscope;
using batchscope::store::test::Folder;

/// Tables with a row per run.
class TestSummary : public QObject {
  Q_OBJECT

private Q_SLOTS:
  void aRowForEachRun();
  void markdownHoldsNoMarkupOfNames();
  void aReportBringsNothingFromNames();
  void aReportHasAPartForEachSweep();
};

namespace {

std::int64_t add(store::RunStore& store, const std::string& name, const std::string& spec, double loss,
                 const std::optional<std::int64_t>& sweep = {}) {
  store::NewRun run;
  run.name = name;
  run.spec_json = spec;
  run.sweep = sweep;
  auto outcome = store::test::outcome(telemetry::RunStatus::finished);
  outcome.batch = 16;
  outcome.loss = loss;
  outcome.validation_accuracy = 0.5;
  outcome.validation_loss = loss;
  outcome.peak_bytes = 123;
  outcome.examples_per_second = 1000;
  return store.add_finished(run, outcome);
}

QStringList exported(const Folder& folder, const std::vector<std::int64_t>& ids, const char* format) {
  std::ostringstream out;
  exchange::make_exporter(format)->write(store::RunReader(folder.file()), ids, out);
  return QString::fromStdString(out.str()).trimmed().split('\n');
}

} // namespace

void TestSummary::aRowForEachRun() {
  const Folder folder;
  store::RunStore store(folder.file());
  const auto one = add(store, "a, \"b\"", R"({"version":1,"name":"a","batch":"50%","lr":0.1,"drop_last":false})", 0.25);
  const auto two = add(store, "c", R"({"batch":16,"memory_budget":100000000})", store::test::not_a_number);
  const QStringList lines = exported(folder, {two, one}, "summary");
  QCOMPARE(lines.size(), 3);
  const QStringList header = lines[0].split(',');
  QVERIFY(header.startsWith("run"));
  for (const char* column : {"name", "status", "batch", "peak_bytes", "seconds", "validation_accuracy", "setting.batch",
                             "setting.lr", "setting.drop_last", "setting.memory_budget_bytes"})
    QVERIFY2(header.contains(column), column);
  const QStringList first = lines[1].split(',');
  QCOMPARE(first.size(), header.size());
  QCOMPARE(first[0], QString("2"));
  QCOMPARE(first[header.indexOf("loss")], QString("NaN"));
  QCOMPARE(first[header.indexOf("setting.memory_budget_bytes")], QString("100000000"));
  QCOMPARE(first[header.indexOf("setting.lr")], QString());
  QVERIFY(lines[2].startsWith("1,\"a, \"\"b\"\"\","));
  QVERIFY(lines[2].contains(",50%,"));
}

void TestSummary::markdownHoldsNoMarkupOfNames() {
  const Folder folder;
  store::RunStore store(folder.file());
  const auto one = add(store, "x", R"x({"batch":16,"note":"<script>|[a](b)"})x", 0.25);
  const auto two = add(store, "x", R"({"batch":32,"note":"*b*"})", 0.5);
  const QString text = exported(folder, {one, two}, "markdown").join('\n');
  QVERIFY(!text.contains("<script>") && !text.contains("[a]") && text.contains("\\<script\\>"));
}

void TestSummary::aReportBringsNothingFromNames() {
  const Folder folder;
  store::RunStore store(folder.file());
  const std::string evil = "</title><script>alert(1)</script><img src=x onerror='alert(2)'>\"&";
  const auto one = add(store, evil, R"({"batch":16,"lr":"<b>","</pre><script>":1})", 0.25);
  const auto two = add(store, "x", R"({"batch":32,"lr":0.1})", store::test::not_a_number);
  store.set_note(one, evil);
  const QString text = exported(folder, {one, two}, "html").join('\n');
  QCOMPARE(text.count("<script"), 1); // its own, which sorts the table
  QCOMPARE(text.count("<img"), 0);
  QVERIFY(text.contains("&lt;script&gt;alert(1)") && text.contains("default-src 'none'"));
  for (const char* address : {"http:", "https:", "src=\"", "url(", "@import"})
    QVERIFY2(!text.contains(address), address);
  QVERIFY(text.contains("<svg") && text.contains("Batch size 16, lr &lt;b&gt;"));
  // Tags are balanced.
  for (const char* tag : {"table", "tr", "td", "svg", "details", "pre", "dl", "figure", "main"})
    QCOMPARE(text.count(QString("<%1>").arg(tag)) + text.count(QString("<%1 ").arg(tag)),
             text.count(QString("</%1>").arg(tag)));
}

void TestSummary::aReportHasAPartForEachSweep() {
  const Folder folder;
  store::RunStore store(folder.file());
  const std::int64_t sizes = store.add_sweep(R"({"name":"<b>sizes","goal":"throughput"})");
  const std::int64_t other = store.add_sweep(R"({"name":7,"goal":[]})");
  std::vector<std::int64_t> ids;
  for (const auto& [sweep, batch, seed] : std::vector<std::tuple<std::optional<std::int64_t>, int, int>>{
           {sizes, 16, 1}, {other, 8, 1}, {sizes, 16, 2}, {sizes, 64, 1}, {sizes, 64, 2}, {other, 8, 2}, {{}, 4, 1}})
    ids.push_back(
        add(store, "x", QString(R"({"batch":%1,"seed":%2})").arg(batch).arg(seed).toStdString(), 0.25, sweep));
  const QString text = exported(folder, ids, "html").join('\n');
  QVERIFY(text.contains("<h1>7 runs of different sweeps</h1>"));
  const QStringList titles{"<h2>Sweep 1: &lt;b&gt;sizes</h2>", "<h2>Sweep 2</h2>", "<h2>Runs of no sweep</h2>"};
  for (int i = 1; i < titles.size(); ++i)
    QVERIFY(text.indexOf(titles[i - 1]) >= 0 && text.indexOf(titles[i - 1]) < text.indexOf(titles[i]));
  QVERIFY(text.contains("Batch size 16: the best throughput, 1,000 examples/s"));
  QCOMPARE(text.count("<summary>Each run</summary>"), 1); // only there were settings repeated
  QCOMPARE(text.count("over 2 seeds</td>"), 2);
  QVERIFY(!text.contains("batch size 8 "));
  QCOMPARE(text.count("<details>"), text.count("</details>"));
}

BATCHSCOPE_TEST(TestSummary)
#include "tst_summary.moc"
