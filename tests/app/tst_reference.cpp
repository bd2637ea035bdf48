#include <QFile>
#include <QTest>

#include "cli/cli_program.h"
#include "test_program.h"

using namespace batchscope::test;

/// docs/reference.md is what the program's own tables say.
class TestReference : public QObject {
  Q_OBJECT

private Q_SLOTS:
  void isUpToDate() {
    const Outcome printed = CliProgram().run({"reference"});
    QCOMPARE(printed.status, 0);
    QFile page(BATCHSCOPE_SOURCE_DIR "/docs/reference.md");
    QVERIFY(page.open(QIODevice::ReadOnly));
    const QList<QByteArray> now = printed.out.split('\n'), written = page.readAll().split('\n');
    for (qsizetype i = 0; i < std::min(now.size(), written.size()); ++i)
      QVERIFY2(now[i] == written[i], "docs/reference.md is out of date; make reference\n" + written[i] + '\n' + now[i]);
    QCOMPARE(now.size(), written.size());
  }

  void hasEverything() {
    const Outcome printed = CliProgram().run({"reference"});
    for (const char* text : {"## batchscope-cli find", "| `lr` | `--lr` |", "| `peak_bytes` | `peak` | bytes |",
                             "| `grad_norm` |", "| `oom` |", "`--schedule`", "| `tensorboard` |"})
      QVERIFY2(printed.out.contains(text), text);
    bool is_said = false; // what each is: the last column, but for fields with a default and series in a CSV
    for (const QByteArray& line : printed.out.split('\n')) {
      if (line.startsWith("## "))
        is_said =
            line.startsWith("## batchscope-cli") || line == "## Columns of the list of runs" || line == "## Events";
      QVERIFY2(!is_said || !line.startsWith("| `") || !line.endsWith("|  |"), line);
    }
  }
};

BATCHSCOPE_TEST(TestReference)
#include "tst_reference.moc"
