#include <QProcess>
#include <QTest>

#include "test_python.h"

/// The benchmark's Python twin trains the same net on the same examples in the same order: the losses are the same.
class TestPythonTwin : public QObject {
  Q_OBJECT

private Q_SLOTS:
  void trainsTheSame() {
    BATCHSCOPE_NEEDS_PYTHON();
    QProcess process;
    process.setProcessChannelMode(QProcess::MergedChannels);
    process.start(batchscope::test::test_python(),
                  {BATCHSCOPE_SOURCE_DIR "/tests/bench/python_twin.py", "--cli", BATCHSCOPE_CLI, "--check"});
    QVERIFY2(process.waitForFinished(300'000), qPrintable(process.errorString()));
    const QByteArray output = process.readAll();
    QVERIFY2(process.exitCode() == 0, output.constData());
    QCOMPARE(output.count("losses of 20 steps differ by at most"), 4);
  }
};

BATCHSCOPE_TEST(TestPythonTwin)
#include "tst_python_twin.moc"
