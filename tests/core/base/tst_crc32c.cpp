#include <QTest>

#include <string>

#include "core/base/crc32c.h"
#include "test_program.h"

using batchscope::crc32c;

class TestCrc32c : public QObject {
  Q_OBJECT

private Q_SLOTS:
  /// RFC 3720, appendix B.4.
  void knownValues() {
    QCOMPARE(crc32c(""), 0U);
    QCOMPARE(crc32c("123456789"), 0xE3069283U);
    QCOMPARE(crc32c(std::string(32, '\0')), 0x8A9136AAU);
    QCOMPARE(crc32c(std::string(32, '\xff')), 0x62A8AB43U);
  }

  void partsMakeTheWhole() {
    std::string text;
    for (int i = 0; i < 100; ++i)
      text += static_cast<char>(i * 37);
    for (std::size_t at = 0; at <= text.size(); ++at)
      QCOMPARE(crc32c(text.substr(at), crc32c(text.substr(0, at))), crc32c(text));
  }
};

BATCHSCOPE_TEST(TestCrc32c)
#include "tst_crc32c.moc"
