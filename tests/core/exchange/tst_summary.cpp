#include <sstream>

#include <QTest>

#include "core/exchange/export.h"
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
};

namespace {

std::int64_t add(store::RunStore& store, const std::string& name, const std::string& spec, double loss) {
  store::NewRun run;
  run.name = name;
  run.spec_json = spec;
  auto outcome = store::test::outcome(telemetry::RunStatus::finished);
  outcome.batch = 16;
  outcome.loss = loss;
  outcome.validation_accuracy = 0.5;
  outcome.validation_loss = loss;
  outcome.peak_bytes = 123;
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

BATCHSCOPE_TEST(TestSummary)
#include "tst_summary.moc"
