#include "core/program/process/client.h"

#include <QFile>
#include <QTest>

#include "test_program.h"

using namespace batchscope;

/// The client is compiled in as it is in the sources.
class TestClient : public QObject {
  Q_OBJECT

private Q_SLOTS:
  void isTheFile_data() {
    QTest::addColumn<QString>("file");
    QTest::addColumn<QByteArray>("text");
    const auto bytes = [](std::string_view text) { return QByteArray(text.data(), qsizetype(text.size())); };
    QTest::newRow("client") << "batchscope.py" << bytes(program::client_source());
    QTest::newRow("attach") << "sitecustomize.py" << bytes(program::attach_source());
  }

  void isTheFile() {
    QFETCH(QString, file);
    QFETCH(QByteArray, text);
    QFile source(QStringLiteral(BATCHSCOPE_SOURCE_DIR "/resources/python/") + file);
    QVERIFY(source.open(QIODevice::ReadOnly));
    QVERIFY(!text.isEmpty());
    QCOMPARE(text, source.readAll());
  }
};

BATCHSCOPE_TEST(TestClient)
#include "tst_client.moc"
