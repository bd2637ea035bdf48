#include <csignal>

#include <QDirIterator>

#include "test_program.h"
#include "tests/app/cli/cli_program.h"

using namespace batchscope::test;

namespace {

/// A program that pretends to train: batch and steps are its arguments.
constexpr const char* training = R"(
import sys
batch, steps = int(sys.argv[1]), int(sys.argv[2])
for step in range(1, steps + 1):
    print(f"step {step} loss {batch / step}", flush=True)
)";

class Runs : public CliProgram {
public:
  Runs() {
    write("train.py", training);
    set("XDG_RUNTIME_DIR", path(""));
  }
  Outcome run(const QStringList& options, const QStringList& command, const QString& verb = "run") const {
    return CliProgram::run(QStringList{verb, "--json"} + options + QStringList{"--"} + command);
  }
  Outcome python(const QString& source, const QStringList& options = {}) const {
    return run(options, {"python3", "-c", source});
  }
};

QJsonObject program_of(const Outcome& outcome) {
  return outcome.json()["program"].toObject();
}

} // namespace

class TestRun : public QObject {
  Q_OBJECT

private Q_SLOTS:
  void programIsStoredAsARun() {
    const Runs runs;
    const Outcome outcome =
        runs.run({"--batch", "4", "--note", "a note", "--metric", "loss=step (?<step>\\d+) loss (\\S+)", "--set",
                  "steps=3", "--env", "TOKEN=hidden-value"},
                 {"python3", "train.py", "{batch}", "{steps}"});
    QVERIFY2(outcome.status == 0, outcome.shown().constData());
    const QJsonObject json = outcome.json();
    QCOMPARE(json["status"].toString(), QString("finished"));
    QCOMPARE(json["steps"].toInt(), 3);
    QCOMPARE(json["batch"].toInt(), 4);
    const QJsonObject program = program_of(outcome);
    QCOMPARE(program["exit_code"].toInt(-1), 0);
    QVERIFY(program["signal"].isNull());
    QVERIFY(program["framework"].isNull());
    QCOMPARE(program["level"].toInt(-1), 0);
    QFile output(program["output"].toString());
    QVERIFY(output.open(QIODevice::ReadOnly));
    QVERIFY(output.readAll().startsWith("step 1 loss 4.0\n"));

    const Outcome shown = runs.CliProgram::run({"show", "1", "--json"});
    QCOMPARE(shown.json()["note"].toString(), QString("a note"));
    QVERIFY(shown.out.contains("{steps}"));
    QFile database(runs.path("default.db"));
    QVERIFY(database.open(QIODevice::ReadOnly));
    QVERIFY(!database.readAll().contains("hidden-value"));
  }

  void exitStatuses() {
    const Runs runs;
    const Outcome failed = runs.python("import sys; print('x' * 20000); sys.exit(3)");
    QVERIFY2(failed.status == 1, failed.shown().constData());
    QCOMPARE(failed.json()["status"].toString(), QString("failed"));
    QCOMPARE(program_of(failed)["exit_code"].toInt(), 3);
    const Outcome killed = runs.python("import os; os.kill(os.getpid(), 9)");
    QCOMPARE(killed.status, 1);
    QCOMPARE(program_of(killed)["signal"].toInt(), 9);
    QCOMPARE(killed.json()["reason"].toString(), QString("killed (SIGKILL) by an unknown process"));
  }

  /// That the time is over is the end that was asked for, whatever it takes to end the program.
  void timeIsOver() {
    const Runs runs;
    const Outcome outcome = runs.python("import time; time.sleep(1000)", {"--max-seconds", "0.5", "--grace", "0.5"});
    QVERIFY2(outcome.status == 0, outcome.shown().constData());
    QCOMPARE(outcome.json()["status"].toString(), QString("finished"));
  }

  /// Its disk is full: its own output cannot be written any more.
  void fullDisk() {
    const Runs runs;
    const Outcome outcome = runs.python("import resource\nresource.setrlimit(resource.RLIMIT_FSIZE, (4096, 4096))\n"
                                        "for i in range(100000): print('a line of output', i)");
    QVERIFY2(outcome.status == 1, outcome.shown().constData());
    QCOMPARE(outcome.json()["status"].toString(), QString("failed"));
  }

  void printsNothingAndMatchesNothing() {
    const Runs runs;
    QCOMPARE(runs.python("", {"--metric", "loss=loss (\\S+)"}).status, 0);
    const Outcome outcome = runs.python("print('no such thing')", {"--metric", "loss=loss (\\S+)"});
    QCOMPARE(outcome.status, 0);
    QCOMPARE(outcome.json()["steps"].toInt(-1), 0);
  }

  /// Whatever this program gets as its standard streams, none of its files is one of them.
  void closedStandardStreams() {
    const Runs runs;
    const QStringList command{"-c",           "exec \"$0\" \"$@\" <&- >&- 2>&-",
                              BATCHSCOPE_CLI, "run",
                              "--db",         runs.path("closed.db"),
                              "--",           "sh",
                              "-c",           "echo printed"};
    QProcess::execute("sh", command);
    const Outcome shown = runs.CliProgram::run({"show", "1", "--json", "--db", runs.path("closed.db")});
    QVERIFY2(shown.json()["summary"].toObject()["status"] == "finished", shown.shown().constData());
    QDirIterator outputs(runs.path("closed.db-programs"), {"output"}, QDir::Files, QDirIterator::Subdirectories);
    QFile output(outputs.next());
    QVERIFY(output.open(QIODevice::ReadOnly));
    QCOMPARE(output.readAll(), QByteArray("printed\n"));
  }

  /// What is piped into the command, and nothing of a standard input that is closed.
  void readsItsStandardInput() {
    const Runs runs;
    for (const auto& [input, printed] : {std::pair("echo word | ", "word\n"), std::pair("", "")}) {
      const QString database = runs.path(*input ? "piped.db" : "closed.db");
      const QString line = QString("%1\"$0\" \"$@\" %2").arg(input, *input ? "" : "<&-");
      QCOMPARE(QProcess::execute("sh", {"-c", line, BATCHSCOPE_CLI, "run", "--db", database, "--", "cat"}), 0);
      QDirIterator outputs(database + "-programs", {"output"}, QDir::Files, QDirIterator::Subdirectories);
      QFile output(outputs.next());
      QVERIFY(output.open(QIODevice::ReadOnly));
      QCOMPARE(output.readAll(), QByteArray(printed));
    }
  }

  void manyLines() {
    const Runs runs;
    const Outcome outcome =
        runs.run({"--batch", "1", "--metric", "loss=loss (\\S+)"}, {"python3", "train.py", "{batch}", "20000"});
    QVERIFY2(outcome.status == 0, outcome.shown().constData());
    QCOMPARE(outcome.json()["steps"].toInt(), 20000);
  }

  /// The first Ctrl-C stops the program in order, the second kills one that does not listen.
  void interrupted_data() {
    QTest::addColumn<bool>("stubborn");
    QTest::newRow("in order") << false;
    QTest::newRow("killed") << true;
  }
  void interrupted() {
    QFETCH(bool, stubborn);
    const Runs runs;
    QProcess process;
    const QString ignore = "import signal; [signal.signal(s, signal.SIG_IGN) for s in (2, 15)];";
    runs.start(process,
               {"run", "--json", "--", "python3", "-u", "-c",
                (stubborn ? ignore : QString()) + "open('running', 'w').close(); import time; time.sleep(1000)"});
    QTRY_VERIFY_WITH_TIMEOUT(QFile::exists(runs.path("running")), 60'000);
    ::kill(static_cast<pid_t>(process.processId()), SIGINT);
    if (stubborn) {
      // Each is handled before the next one comes, or the same signals would be one.
      while (!process.waitForFinished(500))
        ::kill(static_cast<pid_t>(process.processId()), SIGINT);
      const Outcome listed = runs.CliProgram::run({"list", "--json"});
      QVERIFY(listed.status == 0);
      return;
    }
    const Outcome outcome = CliProgram::finish(process);
    QVERIFY2(outcome.status == 130, outcome.shown().constData());
    QCOMPARE(outcome.json()["status"].toString(), QString("stopped"));
  }

  /// What is known of the program is the answer at once, also after its BatchScope was killed.
  void steersAProgramThatDoesNotListen() {
    const Runs runs;
    QProcess process;
    runs.start(process, {"run", "--", "python3", "-c",
                         "import os, time\nopen('running', 'w').close()\n"
                         "while not os.path.exists('end'): time.sleep(0.01)"});
    QTRY_VERIFY_WITH_TIMEOUT(QFile::exists(runs.path("running")), 60'000);
    for (const QStringList& change : {QStringList{"schedule", "constant", "--batch", "64"}, {"budget", "1GB"}}) {
      const Outcome refused = runs.CliProgram::run(QStringList{"steer", "1"} + change);
      QVERIFY2(refused.status == 1, refused.shown().constData());
      QVERIFY2(refused.err.contains(change[0].toUtf8() + " not changed: the program has not connected"),
               refused.shown().constData());
    }
    ::kill(static_cast<pid_t>(process.processId()), SIGKILL);
    process.waitForFinished(60'000);
    const Outcome left = runs.CliProgram::run({"steer", "1", "pause"});
    QVERIFY2(left.status == 2 && left.err.contains("`run --adopt 1`"), left.shown().constData());
    runs.write("end", "");
    const Outcome adopted = runs.CliProgram::run({"run", "--adopt", "1"});
    QVERIFY2(adopted.out.startsWith("run 1\n"), adopted.shown().constData());
    QVERIFY2(adopted.status == 1 && adopted.out.contains("its exit status is not known"), adopted.shown().constData());
  }

  void searchAndSweep() {
    const Runs runs;
    const Outcome found =
        runs.run({"--no-timings", "--strategy", "power", "--max-batch", "4", "--memory-budget", "1GB"},
                 {"python3", "train.py", "{batch}", "1"}, "find");
    QVERIFY2(found.status == 0, found.shown().constData());
    QCOMPARE(found.json()["largest"].toInt(), 4);
    const QJsonObject probe = found.json()["probes"].toArray().first().toObject();
    QCOMPARE(probe["how"].toString(), QString("process"));
    const Outcome unsized = runs.run({"--attach", "auto"}, {"true"}, "find");
    QCOMPARE(unsized.status, 2);
    QVERIFY2(unsized.err.contains("the program takes no batch size"), unsized.shown().constData());
    QCOMPARE(unsized.err.trimmed().count('\n'), 0);
    QVERIFY(probe["pid"].toInt() > 1);

    const Outcome swept = runs.run({"--batch", "1,2", "--set", "count=2,3", "--metric", "loss=loss (\\S+)", "--quiet"},
                                   {"python3", "train.py", "{batch}", "{count}"}, "sweep");
    QVERIFY2(swept.status == 0, swept.shown().constData());
    QCOMPARE(swept.json()["runs"].toArray().size(), 4);
    const Outcome compared = runs.CliProgram::run({"compare", "--sweep", "1", "--goal", "throughput"});
    QVERIFY2(compared.out.contains("  count  "), compared.shown().constData());
    const Outcome resumed = runs.CliProgram::run({"sweep", "--resume", "1", "--batch", "4", "--quiet", "--json"});
    QVERIFY2(resumed.status == 0, resumed.shown().constData());
    QCOMPARE(resumed.json()["runs"].toArray().size(), 6);
  }

  void whatIsNotKnownIsNotZero() {
    const Runs runs;
    const Outcome outcome = runs.python("print('loss 0.5')", {"--metric", "loss=loss (\\S+)"});
    QVERIFY2(outcome.status == 0, outcome.shown().constData());
    for (const char* name : {"examples_seen", "epoch", "train_coverage", "examples_per_second", "batch"})
      QVERIFY2(outcome.json()[name].isNull() && outcome.json().contains(name), name);
    const auto text_of = [&](const QStringList& arguments) { return runs.CliProgram::run(arguments).out; };
    const QByteArray shown = text_of({"show", "1"});
    QVERIFY2(shown.contains("steps") && !shown.contains("examples") && !shown.contains("epochs"), shown.constData());
    QVERIFY2(!text_of({"compare", "1"}).contains("examples/s"), text_of({"compare", "1"}).constData());
    const QByteArray series = text_of({"show", "1", "--series", "epoch,batch,loss", "--json"});
    QVERIFY2(series.contains("\"epoch\": [[1, null]]") && series.contains("\"loss\": [[1, 0.5]]"), series.constData());
    QCOMPARE(runs.CliProgram::run({"export", "1", "--format", "csv", "-o", "steps.csv"}).status, 0);
    QFile file(runs.path("steps.csv"));
    QVERIFY(file.open(QIODevice::ReadOnly));
    const QByteArray header = file.readLine().trimmed();
    const QByteArrayList cells = file.readLine().trimmed().split(',');
    const QByteArrayList names = header.split(',');
    QCOMPARE(cells.size(), names.size());
    for (const char* name : {"examples_seen", "epoch", "train_coverage", "batch", "effective_batch", "learning_rate"})
      QVERIFY2(cells[names.indexOf(name)].isEmpty(), name);
    QCOMPARE(cells[names.indexOf("loss")], QByteArray("0.5"));

    const Outcome failed = runs.python("raise MemoryError()");
    QCOMPARE(failed.status, 1);
    const QByteArray events = text_of({"show", "2"});
    QVERIFY2(events.contains(": out of memory") && !events.contains("tried to allocate"), events.constData());
    QVERIFY2(!events.contains("examples"), events.constData());
  }

  /// Settings that the program reports are found as those that are given.
  void reportedSettingsAreFiltered() {
    const Runs runs;
    runs.CliProgram::run({"python-client", "-o", "batchscope.py"});
    runs.write("three.py", "import batchscope\nrun = batchscope.start()\n"
                           "run.report(1, loss=1, learning_rate=0.05, batch=16)\n"
                           "run.report(2, loss=1, learning_rate=0.1, batch=16)\n");
    const Outcome outcome = runs.run({}, {"python3", "three.py"});
    QVERIFY2(outcome.status == 0, outcome.shown().constData());
    const Outcome listed =
        runs.CliProgram::run({"list", "--json", "--where", "lr = 0.1 and batch = 16 and schedule = constant"});
    QCOMPARE(listed.json()["runs"].toArray().size(), 1);
  }

  /// What a search has tried is stored if it is stopped.
  void stoppedSearch() {
    const Runs runs;
    runs.write("slow.py",
               "import sys, time\nsize = int(sys.argv[1])\n"
               "if size >= 4:\n    import subprocess; subprocess.run(['touch', 'third'])\n    time.sleep(1000)\n");
    QProcess process;
    runs.start(process, {"find", "--json", "--strategy", "power", "--memory-budget", "1GB", "--", "python3", "slow.py",
                         "{batch}"});
    QTRY_VERIFY_WITH_TIMEOUT(QFile::exists(runs.path("third")), 60'000);
    ::kill(static_cast<pid_t>(process.processId()), SIGINT);
    const Outcome outcome = CliProgram::finish(process);
    QVERIFY2(outcome.status == 130, outcome.shown().constData());
    QCOMPARE(outcome.json()["status"].toString(), QString("interrupted"));
    QCOMPARE(outcome.json()["largest"].toInt(), 2);
    const Outcome stored = runs.CliProgram::run({"show", "--search", "1"});
    QVERIFY2(stored.out.contains("largest that fitted so far"), stored.shown().constData());
  }

  /// The seed that is given reaches a program that is attached to; without one it has its own.
  void seedOfAnAttachedProgram() {
    const Runs runs;
    runs.write("seeded.py", "import batchscope, random\nrun = batchscope.start()\n"
                            "run.report(1, loss=random.random())\n");
    const auto loss_of = [&](const QStringList& options) {
      return runs.run(QStringList{"--attach", "auto"} + options, {"python3", "seeded.py"}).json()["loss"].toDouble();
    };
    const double first = loss_of({"--seed", "1"});
    QCOMPARE(loss_of({"--seed", "1"}), first);
    QVERIFY(loss_of({}) != first);
    QVERIFY(loss_of({"--seed", "2"}) != first);
    const Outcome listed = runs.CliProgram::run({"list", "--json", "--where", "seed = 2"});
    QCOMPARE(listed.json()["runs"].toArray().size(), 1);
    const Outcome swept =
        runs.run({"--attach", "auto", "--repeats", "2", "--quiet"}, {"python3", "seeded.py"}, "sweep");
    QVERIFY2(swept.status == 0, swept.shown().constData());
    const QJsonArray all = runs.CliProgram::run({"list", "--json", "--where", "sweep = 1"}).json()["runs"].toArray();
    QCOMPARE(all.size(), 2);
    QVERIFY(all[0].toObject()["loss"].toDouble() != all[1].toObject()["loss"].toDouble());
    QVERIFY(all[0].toObject()["loss"].toDouble() == first || all[1].toObject()["loss"].toDouble() == first);
  }

  /// What it prints of its scores is the run's result, wherever results are shown, and what it was given a setting.
  void scoresAndSettings() {
    const Runs runs;
    const QString source = "print('step 1 loss 2'); print('step 1 accuracy 0.5'); print('step 2 loss 1'); "
                           "print('step 2 accuracy 0.75')";
    const Outcome outcome =
        runs.run({"--batch", "8", "--set", "lr=0.1", "--metric", "loss=step (?<step>\\d+) loss (\\S+)", "--metric",
                  "validation_accuracy=step (?<step>\\d+) accuracy (\\S+)", "--cwd", runs.path("")},
                 {"python3", "-c", source, "{batch}", "{lr}"});
    QVERIFY2(outcome.status == 0, outcome.shown().constData());
    QCOMPARE(outcome.json()["validation"].toObject()["accuracy"].toDouble(), 0.75);
    const auto text_of = [&](const QStringList& arguments) { return runs.CliProgram::run(arguments).out; };
    const QByteArray shown = text_of({"show", "1"});
    QVERIFY2(shown.contains("validation accuracy   75.00 %"), shown.constData());
    QVERIFY2(shown.contains(" 8 0.1\n") && shown.contains("lr=0.1") && shown.contains("constant"), shown.constData());
    QVERIFY2(shown.contains(runs.path("").toUtf8()), shown.constData());
    QVERIFY(text_of({"list"}).contains("75.00 %"));
    QCOMPARE(runs.CliProgram::run({"export", "1", "--format", "summary", "-o", runs.path("runs.csv")}).status, 0);
    QFile summary(runs.path("runs.csv"));
    QVERIFY(summary.open(QIODevice::ReadOnly));
    QVERIFY(summary.readAll().contains(",0.75,"));
    const QByteArray listed = text_of({"list", "--where", "set.lr > 0.05 and accuracy = 75%", "--columns", "set.lr"});
    QVERIFY2(listed.contains("set.lr") && listed.contains("0.1"), listed.constData());
    QCOMPARE(runs.CliProgram::run({"list", "--where", "set.rate = 1"}).status, 2);
  }

  void programWithoutDashes() {
    const Runs runs;
    VERIFY_REFUSED(runs, runs.CliProgram::run({"run", "train.py"}), "such as -- python train.py");
  }

  void client() {
    const Runs runs;
    const Outcome written = runs.CliProgram::run({"python-client", "-o", "batchscope.py"});
    QVERIFY2(written.status == 0, written.shown().constData());
    QFile file(runs.path("batchscope.py"));
    QVERIFY(file.open(QIODevice::ReadOnly));
    const QByteArray text = file.readAll();
    QVERIFY(text.contains("class Loader(") && text.contains("SPDX-License-Identifier: MIT"));
    QCOMPARE(runs.CliProgram::run({"python-client"}).out, text);
    QCOMPARE(runs.CliProgram::run({"python-client", "--json"}).json()["source"].toString(), QString::fromUtf8(text));
    QCOMPARE(runs.CliProgram::run({"python-client", "-o", "batchscope.py"}).status, 2); // never over another file
  }

  void refused_data() {
    QTest::addColumn<QStringList>("arguments");
    QTest::addColumn<QByteArray>("named");
    const auto row = [](const char* arguments, const char* named) {
      QTest::newRow(arguments) << QString(arguments).split(' ') << QByteArray(named);
    };
    row("run", "no command is given");
    row("run --", "no command");
    row("run -- no-such-command", "no program \"no-such-command\" in PATH");
    row("run --cwd /no/such/folder -- true", "--cwd: no folder");
    row("run --batch 4 -- true", "put {batch} into its command");
    row("run -- echo {batch}", "no batch size is set");
    row("run -- echo {widht}", "{widht} in the command is not known");
    row("run --metric loss -- true", "NAME=REGEX");
    row("run --metric loss=( -- true", "is no regular expression");
    row("run --read log.csv -- true", "tensorboard:DIR");
    row("run --attach yes -- true", "auto, none");
    row("run --set a=1 -- true", "{a} is not in the command");
    row("run --env TOKEN -- true", "--env");
    row("run --grace -1 -- true", "--grace");
    row("run --adopt 1 -- true", "--adopt");
    row("estimate -- true", "with --attach auto; `find -- COMMAND`");
    row("find -- true", "put {batch} into its command");
    row("find --goal accuracy -- echo {batch}", "--goal is not accepted");
    row("find --metric loss=(1) --capacity 5", "--metric is of a program of your own");
    row("find --model mlp -- echo {batch}", "--model");
    row("sweep --batch 1,2 -- true", "put {batch} into its command");
    row("sweep --batch 1,2 --repeats 2 -- echo {batch}", "the command has no {seed}");
    row("sweep --lr 0.1,0.2 -- echo 1", "--set lr=0.1,0.2 with {lr} in the command, which stands for each");
    row("run --batch 0 -- echo {batch}", "accepted: a whole number, at least 1");
    row("run --batch auto -- echo {batch}", "accepted: a whole number, at least 1");
    row("sweep --stop-weak median --batch 1,2 -- echo {batch}", "--stop-weak");
  }
  void refused() {
    QFETCH(QStringList, arguments);
    QFETCH(QByteArray, named);
    const CliProgram program;
    VERIFY_REFUSED(program, program.run(arguments), named);
  }
};

BATCHSCOPE_TEST(TestRun)
#include "tst_run.moc"
