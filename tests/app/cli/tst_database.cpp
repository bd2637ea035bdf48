#include <csignal>

#include <sys/resource.h>

#include "test_program.h"
#include "tests/app/cli/cli_program.h"

using namespace batchscope::test;

/// Databases that are not what a verb needs, for each verb that has one.
class TestDatabase : public QObject {
  Q_OBJECT

private Q_SLOTS:
  void initTestCase();
  void missing_data();
  void missing();
  void noDatabase_data();
  void noDatabase();
  void readOnly_data();
  void readOnly();
  void fullDisk_data();
  void fullDisk();
  void folderIsMade();
  void exportsWholeFiles();
  void filters();

private:
  CliProgram stored_; ///< with one run, number 1
};

namespace {

const QStringList reading_verbs[] = { // and those that change what is there
    {"list"},
    {"show", "1"},
    {"show", "1", "--series", "loss"},
    {"export", "1", "--format", "csv", "-o", "out.csv"},
    {"check"},
    {"watch", "1"},
    {"steer", "1", "pause"},
    {"sweep", "--resume", "1"},
    {"rename", "1", "new"},
    {"delete", "1"},
    {"purge", "--yes"}};

const QStringList writing_verbs[] = {
    {"train", "--model", "mlp:hidden=8", "--data", "synthetic:examples=100,shape=1x8x8,classes=2", "--batch", "8"},
    {"find", "--model", "mlp:hidden=8", "--data", "synthetic:examples=100,shape=1x8x8,classes=2", "--memory-budget",
     "50MB", "--no-timings"},
    {"sweep", "--model", "mlp:hidden=8", "--data", "synthetic:examples=100,shape=1x8x8,classes=2", "--batch", "8"}};

void add_verbs(bool reading, bool writing) {
  QTest::addColumn<QStringList>("arguments");
  if (reading)
    for (const auto& verb : reading_verbs)
      QTest::newRow(qPrintable(verb.join(' '))) << verb;
  if (writing)
    for (const auto& verb : writing_verbs)
      QTest::newRow(qPrintable(verb.first())) << verb;
}

QByteArray content(const QString& name) {
  QFile file(name);
  return file.open(QIODevice::ReadOnly) ? file.readAll() : QByteArray();
}

} // namespace

void TestDatabase::initTestCase() {
  const Outcome outcome = stored_.run(writing_verbs[0]);
  QVERIFY2(outcome.status == 0, outcome.shown().constData());
}

void TestDatabase::missing_data() {
  add_verbs(true, false);
}

void TestDatabase::missing() {
  QFETCH(QStringList, arguments);
  const CliProgram program;
  VERIFY_REFUSED(program, program.run(arguments), "default.db");
  QVERIFY(program.files().isEmpty());
}

void TestDatabase::noDatabase_data() {
  add_verbs(true, true);
}

void TestDatabase::noDatabase() {
  QFETCH(QStringList, arguments);
  const CliProgram program;
  QVERIFY(QDir(program.path(".")).mkdir("folder.db"));
  program.write("text.db", "This is a text and no database, whatever its name says. It is long enough to be read.\n");
  QByteArray newer = content(stored_.path("default.db"));
  QVERIFY(newer.size() > 64);
  // The version of the schema, a big-endian number at byte 60 of the file's header.
  newer.replace(60, 4, QByteArray::fromHex("7fffffff"));
  program.write("newer.db", newer);
  for (const QString name : {"folder.db", "text.db", "newer.db"}) {
    const QByteArray before = content(program.path(name));
    const QStringList files = program.files();
    VERIFY_REFUSED(program, program.run(arguments + QStringList{"--json", "--db", program.path(name)}), name.toUtf8());
    QCOMPARE(content(program.path(name)), before);
    QCOMPARE(program.files(), files);
  }
}

void TestDatabase::readOnly_data() {
  add_verbs(false, true);
}

void TestDatabase::readOnly() {
  QFETCH(QStringList, arguments);
  CliProgram program;
  program.respect_permissions();
  const QString file = program.write("read-only.db", content(stored_.path("default.db")));
  QVERIFY(QFile::setPermissions(file, QFile::ReadOwner));
  VERIFY_REFUSED(program, program.run(arguments + QStringList{"--json", "--db", file}), "read-only.db");
}

void TestDatabase::fullDisk_data() {
  add_verbs(false, true);
}

void TestDatabase::fullDisk() {
  QFETCH(QStringList, arguments);
  const CliProgram program;
  QProcess process;
  process.setChildProcessModifier([] {
    // No file may grow beyond 8 kB: too little for a database.
    std::signal(SIGXFSZ, SIG_IGN);
    const rlimit limit{8192, 8192};
    ::setrlimit(RLIMIT_FSIZE, &limit);
  });
  program.start(process, arguments + QStringList{"--json", "--quiet", "--db", program.path("full.db")});
  const Outcome outcome = CliProgram::finish(process);
  QVERIFY2(outcome.status == 2, outcome.shown().constData());
  QVERIFY2(outcome.out.isEmpty(), outcome.shown().constData());
  QVERIFY2(outcome.err.startsWith("batchscope-cli: error: ") && outcome.err.count('\n') == 1 &&
               outcome.err.contains("full.db"),
           outcome.shown().constData());
}

void TestDatabase::folderIsMade() {
  const CliProgram program;
  const QString file = program.path("new/folder/runs.db");
  QCOMPARE(program.run(writing_verbs[0] + QStringList{"--db", file}).status, 0);
  QCOMPARE(program.run({"--db", file, "list", "--json"}).json()["runs"].toArray().size(), 1);
}

void TestDatabase::exportsWholeFiles() {
  const QStringList csv{"export", "1", "--format", "csv", "-o", stored_.path("out.csv")};
  QCOMPARE(stored_.run(csv).status, 0);
  const QByteArray text = content(stored_.path("out.csv"));
  QVERIFY(text.startsWith("run,step,examples_seen,epoch,train_coverage,batch,accumulate,effective_batch,loss,"
                          "learning_rate,grad_norm,seconds,allocated_bytes,reserved_bytes,peak_bytes"));
  // 80 of 100 examples train: 10 steps of 8.
  QCOMPARE(text.count('\n'), 11);
  QVERIFY(refused(stored_.run(csv), "--force"));
  QCOMPARE(stored_.run(csv + QStringList{"--force"}).status, 0);
  QVERIFY(refused(stored_.run({"export", "1", "99", "--format", "json", "-o", stored_.path("out.json")}), "99"));
  QVERIFY(!QFile::exists(stored_.path("out.json")));
  QVERIFY(refused(stored_.run({"export", "1", "--format", "csv", "-o", stored_.path("no/such/out.csv")}), "no/such"));
}

void TestDatabase::filters() {
  const auto ids = [&](const char* where) {
    return stored_.run({"list", "--json", "--where", where}).json()["runs"].toArray().size();
  };
  QCOMPARE(ids("batch >= 8 and status = finished"), 1);
  QCOMPARE(ids("batch > 8"), 0);
  QVERIFY(refused(stored_.run({"list", "--where", "batch >"}), "batch"));
  QVERIFY(refused(stored_.run({"list", "--where", "colour = red"}), "colour"));
  QVERIFY(refused(stored_.run({"show", "99"}), "99"));
  QVERIFY(refused(stored_.run({"show", "1", "--series", "loss,colour"}), "colour"));
}

BATCHSCOPE_TEST(TestDatabase)
#include "tst_database.moc"
