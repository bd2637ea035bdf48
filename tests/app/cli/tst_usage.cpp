#include "test_program.h"
#include "tests/app/cli/cli_program.h"

using namespace batchscope::test;

/// What all verbs have in common: options, help, exit status.
class TestUsage : public QObject {
  Q_OBJECT

private Q_SLOTS:
  void help();
  void version();
  void helpOfEveryVerb_data();
  void helpOfEveryVerb();
  void refused_data();
  void refused();
  void oneLineWhateverWasGiven();
  void globalOptionsBeforeAndAfter();
  void brokenOutputIsNoSuccess();
};

void TestUsage::help() {
  const Outcome outcome = CliProgram().run({"--help"});
  QCOMPARE(outcome.status, 0);
  QVERIFY(outcome.err.isEmpty());
  for (const char* text : {"plan", "find", "train", "watch", "steer", "sweep", "list", "show", "export", "rename",
                           "note", "delete", "restore", "purge", "check", "demo", "--db", "untested"})
    QVERIFY2(outcome.out.contains(text), text);
}

void TestUsage::version() {
  const Outcome outcome = CliProgram().run({"--version"});
  QCOMPARE(outcome.status, 0);
  QVERIFY(outcome.out.startsWith("batchscope-cli "));
}

void TestUsage::helpOfEveryVerb_data() {
  QTest::addColumn<QString>("verb");
  for (const char* verb : {"plan", "find", "train", "watch", "steer", "sweep", "list", "show", "export", "rename",
                           "note", "delete", "restore", "purge", "check", "demo", "rescale", "snippet", "advise"})
    QTest::newRow(verb) << QString(verb);
}

void TestUsage::helpOfEveryVerb() {
  QFETCH(QString, verb);
  const Outcome outcome = CliProgram().run({verb, "--help"});
  QCOMPARE(outcome.status, 0);
  QVERIFY(outcome.err.isEmpty());
  QVERIFY(outcome.out.contains(verb.toUtf8()));
}

void TestUsage::refused_data() {
  QTest::addColumn<QStringList>("arguments");
  QTest::addColumn<QByteArray>("named");
  const auto row = [](const char* name, const QStringList& arguments, const QByteArray& named) {
    QTest::newRow(name) << arguments << named;
  };
  row("nothing", {}, "no verb");
  row("unknown verb", {"tune"}, "\"tune\"");
  for (const char* verb : {"estimate", "rescale"})
    row(verb, {verb, "1"}, verb);
  row("unknown option", {"list", "--colour"}, "--colour");
  row("option for another verb", {"list", "--batch", "3"}, "--batch");
  row("left over", {"list", "more"}, "\"more\"");
  row("twice", {"plan", "--examples", "10", "--batch", "1", "--batch", "2"}, "--batch: given 2 times");
  row("database twice", {"--db", "a", "list", "--db", "b"}, "--db: given 2 times");
  row("no value at the end", {"plan", "--examples", "10", "--batch"}, "--batch: a value is missing");
  row("no value before another option", {"plan", "--batch", "--examples", "10"}, "--batch: a value is missing");
  row("switch with a value", {"list", "--json=yes"}, "--json");
  row("empty database", {"--db", "", "list"}, "--db");
  for (const char* option : {"--init", "--share"})
    row(option, {"train", option, "1"}, option);
  row("rule", {"train", "--lr-rule", "cubic"}, "cubic");
  for (const char* format : {"xml"})
    row(format, {"export", "1", "--format", format, "-o", "x"}, format);
  row("export without a run", {"export", "--format", "csv", "-o", "x"}, "RUN");
  row("export without a format", {"export", "1", "-o", "x"}, "--format");
  row("export without a file", {"export", "1", "--format", "csv"}, "--output");
  row("run 0", {"show", "0"}, "\"0\"");
  row("run x", {"show", "x"}, "\"x\"");
  row("show nothing", {"show"}, "RUN");
  row("rename without a name", {"rename", "1"}, "NAME");
  row("rename with words", {"rename", "1", "first", "try"}, "\"try\"");
  row("delete nothing", {"delete"}, "RUN");
  row("purge a run", {"purge", "1"}, "\"1\"");
}

void TestUsage::refused() {
  QFETCH(QStringList, arguments);
  QFETCH(QByteArray, named);
  const CliProgram program;
  VERIFY_REFUSED(program, program.run(arguments), named);
  VERIFY_REFUSED(program, program.run(QStringList{"--json"} + arguments), named);
}

void TestUsage::oneLineWhateverWasGiven() {
  const CliProgram program;
  VERIFY_REFUSED(program, program.run({"plan", "--examples", "1\n2\x1b[31m", "--batch", "1"}), "--examples");
}

void TestUsage::globalOptionsBeforeAndAfter() {
  const CliProgram program;
  const QStringList plan{"plan", "--examples", "10", "--batch", "5"};
  const Outcome before = program.run(QStringList{"--json"} + plan);
  const Outcome after = program.run(plan + QStringList{"--json", "--quiet"});
  QCOMPARE(before.status, 0);
  QCOMPARE(after.status, 0);
  QCOMPARE(before.out, after.out);
  QCOMPARE(before.json()["total_steps"].toInt(), 2);
}

void TestUsage::brokenOutputIsNoSuccess() {
  if (!QFile::exists("/dev/full"))
    QSKIP("there is no /dev/full here");
  const CliProgram program;
  QProcess process;
  process.setStandardOutputFile("/dev/full");
  program.start(process, {"plan", "--examples", "10", "--batch", "5"});
  const Outcome outcome = CliProgram::finish(process);
  QCOMPARE(outcome.status, 1);
  QVERIFY2(outcome.err.contains("could not be written"), outcome.shown().constData());
}

BATCHSCOPE_TEST(TestUsage)
#include "tst_usage.moc"
