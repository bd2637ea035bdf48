#include "core/program/process/client.h"

#include <QFile>
#include <QProcess>
#include <QTest>

#include "test_program.h"

using namespace batchscope;

/// The client is compiled in as it is made of the sources.
class TestClient : public QObject {
  Q_OBJECT

private Q_SLOTS:
  static QByteArray bytes(std::string_view text) { return {text.data(), qsizetype(text.size())}; }

  void isThePackageAsOneFile() {
    QProcess merge;
    merge.start(BATCHSCOPE_SOURCE_DIR "/scripts/one-file-client", QStringList());
    QVERIFY(merge.waitForFinished());
    QCOMPARE(merge.exitCode(), 0);
    QCOMPARE(bytes(program::client_source()), merge.readAllStandardOutput());
  }

  void attachesWithTheFile() {
    QFile source(BATCHSCOPE_SOURCE_DIR "/resources/python/sitecustomize.py");
    QVERIFY(source.open(QIODevice::ReadOnly));
    QCOMPARE(bytes(program::attach_source()), source.readAll());
  }
};

BATCHSCOPE_TEST(TestClient)
#include "tst_client.moc"
