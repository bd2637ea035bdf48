#include <QFileInfo>
#include <QTest>

#include <QRegularExpression>

#include "cli/cli_program.h"
#include "test_program.h"

using namespace batchscope::test;

/// The examples of the README work as they stand, in their order, in an empty folder.
class TestReadme : public QObject {
  Q_OBJECT

private Q_SLOTS:
  void examplesWork_data() {
    QTest::addColumn<QString>("command");
    if (sanitized)
      QSKIP("the command line's own tests have each of them");
    QFile file(BATCHSCOPE_SOURCE_DIR "/README.md");
    QVERIFY(file.open(QIODevice::ReadOnly));
    static const QRegularExpression block("```sh\n(.*?)```", QRegularExpression::DotMatchesEverythingOption);
    auto blocks = block.globalMatch(QString::fromUtf8(file.readAll()));
    while (blocks.hasNext()) {
      for (const QString& line : blocks.next().captured(1).split('\n', Qt::SkipEmptyParts))
        QTest::newRow(qPrintable(line)) << line;
    }
  }
  void examplesWork() {
    QFETCH(QString, command);
    const QString name = "build/bin/batchscope-cli ";
    QVERIFY(command.startsWith(name));
    const Outcome outcome = program_.run(QProcess::splitCommand(command.mid(name.size()).replace('\'', '"')));
    QVERIFY2(outcome.status == 0, outcome.shown());
    QVERIFY2(!outcome.out.isEmpty(), outcome.shown());
  }

  void namesThePicturesThatAreThere() {
    QFile file(BATCHSCOPE_SOURCE_DIR "/README.md");
    QVERIFY(file.open(QIODevice::ReadOnly));
    static const QRegularExpression link("\\]\\(([^):]+)\\)");
    auto links = link.globalMatch(QString::fromUtf8(file.readAll()));
    QVERIFY(links.hasNext());
    while (links.hasNext()) {
      const QString path = links.next().captured(1);
      QVERIFY2(QFileInfo::exists(QString(BATCHSCOPE_SOURCE_DIR) + '/' + path), qPrintable(path));
    }
  }

private:
  CliProgram program_; ///< its folder and database serve all examples
};

BATCHSCOPE_TEST(TestReadme)
#include "tst_readme.moc"
