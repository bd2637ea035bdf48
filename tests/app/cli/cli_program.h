#pragma once

#include <QDir>
#include <QFile>
#include <QJsonArray>
#include <QJsonDocument>
#include <QJsonObject>
#include <QProcess>
#include <QProcessEnvironment>
#include <QStringList>
#include <QTemporaryDir>
#include <QTest>

#include <linux/capability.h>
#include <sys/prctl.h>
#include <unistd.h>

namespace batchscope::test {

/// What the program left behind.
struct Outcome {
  int status = -1; ///< -1 where it crashed or did not end
  QByteArray out;
  QByteArray err;

  QJsonObject json() const { return QJsonDocument::fromJson(out).object(); }
  QByteArray shown() const { return "exit " + QByteArray::number(status) + "\nstdout: " + out + "\nstderr: " + err; }
};

/// The built program in a folder of its own, with no database but the one that a test names.
class CliProgram {
public:
  CliProgram() {
    environment_ = QProcessEnvironment::systemEnvironment();
    environment_.insert("BATCHSCOPE_DB", path("default.db"));
    environment_.insert("XDG_DATA_HOME", path("data-home"));
  }

  /// For the programs started from now on.
  void unset(const QString& variable) { environment_.remove(variable); }
  void set(const QString& variable, const QString& value) { environment_.insert(variable, value); }

  QString path(const QString& name) const { return folder_.filePath(name); }
  QStringList files() const { return QDir(folder_.path()).entryList(QDir::AllEntries | QDir::NoDotAndDotDot); }

  QString write(const QString& name, const QByteArray& content) const {
    QFile file(path(name));
    if (!file.open(QIODevice::WriteOnly) || file.write(content) != content.size())
      qFatal("a test's file could not be written");
    return file.fileName();
  }

  /// For the programs started from now on, permissions count: for root they do not.
  void respect_permissions() { respects_permissions_ = true; }

  Outcome run(const QStringList& arguments) const {
    QProcess process;
    start(process, arguments);
    return finish(process);
  }

  void start(QProcess& process, const QStringList& arguments) const {
    process.setProcessEnvironment(environment_);
    process.setWorkingDirectory(folder_.path());
    if (respects_permissions_ && ::geteuid() == 0)
      process.setChildProcessModifier([] { ::prctl(PR_CAPBSET_DROP, CAP_DAC_OVERRIDE); });
    process.start(BATCHSCOPE_CLI, arguments);
  }

  static Outcome finish(QProcess& process) {
    Outcome outcome;
    // A process that has ended already cannot be waited for.
    const bool ended = process.state() == QProcess::NotRunning || process.waitForFinished(300'000);
    if (ended && process.error() != QProcess::FailedToStart && process.exitStatus() == QProcess::NormalExit)
      outcome.status = process.exitCode();
    outcome.out = process.readAllStandardOutput();
    outcome.err = process.readAllStandardError();
    return outcome;
  }

private:
  QTemporaryDir folder_;
  QProcessEnvironment environment_;
  bool respects_permissions_ = false;
};

/// Whether a bad input was refused as it should be: exit status 2, one line that holds `named`, nothing else.
inline bool refused(const Outcome& outcome, const QByteArray& named) {
  return outcome.status == 2 && outcome.out.isEmpty() && outcome.err.startsWith("batchscope-cli: error: ") &&
         outcome.err.count('\n') == 1 && outcome.err.endsWith('\n') && outcome.err.contains(named);
}

} // namespace batchscope::test

/// Ends the test function where a bad input was not refused, or where something was written.
#define VERIFY_REFUSED(program, outcome, named)                                                                        \
  do {                                                                                                                 \
    QVERIFY2(batchscope::test::refused(outcome, named), outcome.shown().constData());                                  \
    QVERIFY2(!QFile::exists(program.path("default.db")), "a database was made");                                       \
  } while (false)
