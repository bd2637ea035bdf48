#include <QTest>

#include <limits>

#include "core/store/list_filter.h"
#include "core/store/run_reader.h"
#include "store_test.h"
#include "test_program.h"

using namespace batchscope;
using namespace batchscope::store;
using namespace batchscope::store::test;

namespace {

RunRow example() {
  RunRow run;
  run.id = 7;
  run.name = "it's a \"run\"";
  run.note = "keep";
  run.tags = {"best", "to publish"};
  run.started = "2026-01-31T12:00:00Z";
  run.outcome.status = telemetry::RunStatus::finished;
  run.outcome.batch = 64;
  run.outcome.loss = std::numeric_limits<double>::quiet_NaN();
  run.outcome.validation_accuracy = 0.91;
  run.outcome.peak_bytes = 104'000'000;
  run.outcome.seconds = std::numeric_limits<double>::infinity();
  run.settings.model = "mlp:hidden=32";
  run.settings.learning_rate = 0.001;
  return run;
}

} // namespace

class TestListFilter : public QObject {
  Q_OBJECT

private Q_SLOTS:
  void matches_data();
  void matches();
  void refuses_data();
  void refuses();
  void parentheses_have_a_bound();
  void random_text_is_parsed_or_refused();
  void is_no_sql();
};

void TestListFilter::matches_data() {
  QTest::addColumn<QString>("text");
  QTest::addColumn<bool>("expected");
  const auto row = [](const char* text, bool expected) { QTest::newRow(text) << QString(text) << expected; };
  row("", true);
  row("   ", true);
  row("batch >= 64 and status = finished", true);
  row("batch>=64 and status='finished'", true);
  row("batch > 64", false);
  row("batch < 64.5", true);
  row("batch != 64", false);
  row("batch = 6.4e1", true);
  row("id <= +7", true);
  row("status != failed", true);
  row("name = 'it''s a \"run\"'", true);
  row("name = \"it's a \"\"run\"\"\"", true);
  row("name = it", false);
  row("note = keep and note != ''", true);
  row("tag = best", true);
  row("tag = 'to publish' and tags = best", true);
  row("tag = bes", false);
  row("tag != best", false);
  row("tag != worst", true);
  row("tag >= 'c'", true);
  row("started >= '2026-01-31'", true);
  row("started < '2026-01-31'", false);
  // settings; what a run has none of matches nothing
  row("model = 'mlp:hidden=32' and lr <= 0.001", true);
  row("model != cnn", true);
  row("data != demo", false);
  row("seed >= 0", false);
  // `and` binds tighter than `or`
  row("batch = 64 or batch = 1 and status = failed", true);
  row("(batch = 64 or batch = 1) and status = failed", false);
  row("status = failed and batch = 1 or batch = 64", true);
  // what is not known matches nothing, NaN is itself only
  row("sweep = 1", false);
  row("sweep != 1", false);
  row("validation_loss < 1 or validation_loss >= 1", false);
  row("loss < 1 or loss >= 1", false);
  row("loss = NaN", true);
  row("loss != 1", true);
  row("loss != NaN", false);
  row("batch != NaN", true);
  row("seconds = Infinity", true);
  row("seconds > -Infinity", true);
  row("peak_bytes > 1e8", true);
  // units, and the names of the table's titles
  row("peak > 90MB", true);
  row("peak > 104 MB", false);
  row("peak >= 104 MB and batch = 64", true);
  row("peak_bytes = 104000kB", true);
  row("peak < 0.1GiB", true);
  row("accuracy > 90%", true);
  row("accuracy > 91 %", false);
  row("validation_accuracy = 91%", true);
  row("accuracy = 0.91 or batch = 1", true);
  row("accuracy >= 0 and accuracy <= 1", true);
  row("time > 2h and seconds > 1.5 min and seconds > 30s", true);
  row("ooms = 0", true);
  row("peak_bytes >= 0", true);
  row("batch > -1", true);
}

void TestListFilter::matches() {
  QFETCH(QString, text);
  QFETCH(bool, expected);
  QCOMPARE(parse_list_filter(text.toStdString())(example()), expected);
}

void TestListFilter::refuses_data() {
  QTest::addColumn<QString>("text");
  QTest::addColumn<QString>("error");
  const auto row = [](const char* text, const char* error) { QTest::newRow(text) << QString(text) << QString(error); };
  row("batches > 1",
      "--where: unknown field \"batches\" at position 1; fields are id, name, note, tags, started, sweep, workers, "
      "status, "
      "reason, "
      "batch, steps, examples_seen, epoch, train_coverage, oom_events, loss, validation_loss, validation_accuracy, "
      "peak_bytes, seconds, examples_per_second, disturbed, model, data, schedule, optimizer, device, lr, seed");
  row("batch", "--where: unexpected end at position 6; accepted: one of = != < <= > >=");
  row("batch == 1", "--where: unexpected \"==\" at position 7; accepted: one of = != < <= > >=");
  row("batch >", "--where: unexpected end at position 8; accepted: a value; write text with spaces or signs in quotes");
  row("batch > many", "--where: wrong value \"many\" at position 9; batch is compared with a number");
  row("batch > '64'", "--where: wrong value \"64\" at position 9; batch is compared with a number");
  row("batch > 1e999", "--where: wrong value \"1e999\" at position 9; batch is compared with a number");
  row("status = finshed", "--where: unknown status \"finshed\" at position 10; accepted: queued, running, finished, "
                          "stopped, failed, interrupted");
  row("batch = 1 status = failed", "--where: unexpected \"status\" at position 11; accepted: `and`, `or` or the end");
  row("(batch = 1", "--where: unexpected end at position 11; accepted: `and`, `or` or `)`");
  row("batch = 1)", "--where: unexpected \")\" at position 10; accepted: `and`, `or` or the end");
  row("name = 'open", "--where: missing closing ' of the text at position 8");
  row("batch > 90MB", "--where: wrong value \"90MB\" at position 9; batch is compared with a number");
  row("batch > 90 MB", "--where: unexpected \"MB\" at position 12; accepted: `and`, `or` or the end");
  row("accuracy > 90MB",
      "--where: wrong value \"90MB\" at position 12; validation_accuracy is compared with a fraction or a "
      "percentage, such as 0.97 or 97%");
  row("peak > 90%",
      "--where: wrong value \"90%\" at position 8; peak_bytes is compared with bytes, such as 90000000, 90MB or "
      "1.5GiB");
  row("seconds > 2 weeks", "--where: unexpected \"weeks\" at position 13; accepted: `and`, `or` or the end");
  row("seconds > 2weeks",
      "--where: wrong value \"2weeks\" at position 11; seconds is compared with a time, such as 90, 90s, "
      "1.5min or 2h");
  // what can never hold, or only by a mistaken unit
  row("validation_accuracy > 97",
      "--where: wrong value \"97\" at position 23; validation_accuracy is a fraction from 0 to 1; "
      "did you mean 97%?");
  row("accuracy < 97",
      "--where: wrong value \"97\" at position 12; validation_accuracy is a fraction from 0 to 1; did you mean "
      "97%?");
  row("accuracy > 1",
      "--where: wrong value \"1\" at position 12; validation_accuracy is a fraction from 0 to 1; did you mean "
      "1%?");
  row("accuracy > 150%", "--where: wrong value \"150%\" at position 12; validation_accuracy is a fraction from 0 to 1");
  row("train_coverage > 5000",
      "--where: wrong value \"5000\" at position 18; train_coverage is a fraction from 0 to 1");
  row("peak > 90", "--where: wrong value \"90\" at position 8; peak_bytes is in bytes; did you mean 90MB?");
  row("steps < 0", "--where: wrong value \"0\" at position 9; steps is never below 0");
  row("epoch = -1", "--where: wrong value \"-1\" at position 9; epoch is never below 0");
  row("batch = 64.5", "--where: wrong value \"64.5\" at position 9; batch is a whole number");
}

void TestListFilter::refuses() {
  QFETCH(QString, text);
  QFETCH(QString, error);
  QCOMPARE(QString::fromStdString(error_of([&] { parse_list_filter(text.toStdString()); })), error);
}

void TestListFilter::parentheses_have_a_bound() {
  const auto nested = [](std::size_t n) { return std::string(n, '(') + "batch = 64" + std::string(n, ')'); };
  QVERIFY(parse_list_filter(nested(50))(example()));
  QVERIFY(error_of([&] { parse_list_filter(nested(1'000'000)); }).find("at most 50") != std::string::npos);
  std::string many = "batch = 1"; // not nested, so as many as one likes
  for (int i = 0; i < 10'000; ++i)
    many += " or batch = 1";
  QVERIFY(parse_list_filter(many + " or batch = 64")(example()));
}

void TestListFilter::random_text_is_parsed_or_refused() {
  const std::vector<std::string> parts = {"batch", "name", "status", "=",   "!=", "<",  "!", "(", ")", "'", "\"",
                                          "and",   "or",   "64",     "NaN", " ",  "\t", "é", ";", "-", "x"};
  std::srand(11);
  int parsed = 0;
  for (int i = 0; i < 20'000; ++i) {
    std::string text;
    for (int n = std::rand() % 8; n > 0; --n)
      text += parts[static_cast<std::size_t>(std::rand()) % parts.size()] + (std::rand() % 2 ? " " : "");
    const std::string error = error_of([&] {
      parse_list_filter(text)(example());
      ++parsed;
    });
    QVERIFY2(error.empty() || (error.starts_with("--where: ") && error.find(" at position ") != std::string::npos),
             text.c_str());
  }
  QVERIFY(parsed > 0);
}

void TestListFilter::is_no_sql() {
  const Folder folder;
  RunStore store(folder.file());
  store.add_finished(new_run("x'; DROP TABLE run; --"), outcome(telemetry::RunStatus::finished));
  const RunReader reader(folder.file());
  QCOMPARE(reader.list("name = 'x''; DROP TABLE run; --'").size(), std::size_t(1));
  QCOMPARE(reader.list("name = \"' OR 1=1 --\"").size(), std::size_t(0));
  QCOMPARE(reader.list().size(), std::size_t(1));
}

BATCHSCOPE_TEST(TestListFilter)
#include "tst_list_filter.moc"
