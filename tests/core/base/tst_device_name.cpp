#include <QTest>

#include "core/base/device_name.h"
#include "core/base/error.h"
#include "test_program.h"

using batchscope::parse_device;

class TestDeviceName : public QObject {
  Q_OBJECT

private Q_SLOTS:
  void reads() {
    QVERIFY(!parse_device("cpu"));
    QCOMPARE(parse_device("cuda:0").value(), 0);
    QCOMPARE(parse_device("cuda:63").value(), 63);
  }

  void refuses() {
    for (const char* text : {"", "gpu", "CPU", "cpu ", "cuda", "cuda:", "cuda:x", "cuda:-1", "cuda:+1", "cuda:1x",
                             "cuda: 1", "cuda:64", "cuda:99999999999"}) {
      try {
        parse_device(text);
        QFAIL(text);
      } catch (const batchscope::Error& error) {
        QVERIFY(error.kind() == batchscope::Error::Kind::input);
        const std::string message = error.what();
        QVERIFY2(message.starts_with("--device: ") && message.find(text) != std::string::npos, text);
      }
    }
  }
};

BATCHSCOPE_TEST(TestDeviceName)
#include "tst_device_name.moc"
