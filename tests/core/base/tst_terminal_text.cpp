#include "core/base/terminal_text.h"

#include <random>

#include <QTest>

#include "core/base/json.h"
#include "test_program.h"

using namespace batchscope;

class TestTerminalText : public QObject {
  Q_OBJECT

private Q_SLOTS:
  void texts_data();
  void texts();
  void anyBytes();
};

void TestTerminalText::texts_data() {
  QTest::addColumn<QByteArray>("text");
  QTest::addColumn<QByteArray>("shown");
  QTest::newRow("plain") << QByteArray("run 1\tof 2\n") << QByteArray("run 1\tof 2\n");
  QTest::newRow("other languages") << QByteArray("Größe 批 😀") << QByteArray("Größe 批 😀");
  QTest::newRow("colour") << QByteArray("\x1b[31mred\x1b[0m") << QByteArray("\\u001b[31mred\\u001b[0m");
  QTest::newRow("title of the terminal") << QByteArray("\x1b]0;x\x07") << QByteArray("\\u001b]0;x\\u0007");
  QTest::newRow("overwritten") << QByteArray("loss 1\rloss 2\b\x7f") << QByteArray("loss 1\\u000dloss 2\\u0008\\u007f");
  QTest::newRow("escape in one character") << QByteArray("\xC2\x9B") + "31m" << QByteArray("\\u009b31m");
  QTest::newRow("direction") << QByteArray("a\xE2\x80\xAE"
                                           "b\xE2\x81\xA9"
                                           "c\xD8\x9C")
                             << QByteArray("a\\u202eb\\u2069c\\u061c");
  QTest::newRow("no UTF-8") << QByteArray("\xFF") + "a\xC3"
                            << QByteArray("\xEF\xBF\xBD"
                                          "a\xEF\xBF\xBD");
  QTest::newRow("overlong") << QByteArray("\xC0\x9B") << QByteArray("\xEF\xBF\xBD\xEF\xBF\xBD");
  QTest::newRow("surrogate") << QByteArray("\xED\xA0\x80") << QByteArray("\xEF\xBF\xBD\xEF\xBF\xBD\xEF\xBF\xBD");
  QTest::newRow("zero") << QByteArray("a\0b", 3) << QByteArray("a\\u0000b");
}

void TestTerminalText::texts() {
  QFETCH(QByteArray, text);
  QFETCH(QByteArray, shown);
  QCOMPARE(QByteArray::fromStdString(terminal_text(text.toStdString())), shown);
}

/// Of any bytes: UTF-8 without control characters, and JSON stays the same document.
void TestTerminalText::anyBytes() {
  std::mt19937 random(3);
  for (int i = 0; i < 3000; ++i) {
    std::string text;
    for (std::size_t length = random() % 24; length > 0; --length)
      text += static_cast<char>(random() % (i % 2 == 0 ? 256 : 0xA0));
    const std::string shown = terminal_text(text);
    QCOMPARE(terminal_text(shown), shown);
    QCOMPARE(QString::fromStdString(shown).toStdString(), shown);
    for (const char c : shown)
      QVERIFY(c == '\n' || c == '\t' || (static_cast<unsigned char>(c) >= 0x20 && c != 0x7F));
    const std::string document = json_text(Json{{"text", text + "\xE2\x80\xAE"}}, 2);
    QVERIFY(Json::parse(terminal_text(document)) == Json::parse(document));
  }
}

BATCHSCOPE_TEST(TestTerminalText)
#include "tst_terminal_text.moc"
