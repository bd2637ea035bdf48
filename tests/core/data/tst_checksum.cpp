#include <QTest>

#include <fstream>

#include <QTemporaryDir>

#include "core/data/dataset.h"
#include "test_program.h"

using namespace batchscope;

class TestChecksum : public QObject {
  Q_OBJECT

private Q_SLOTS:
  void tablesAndTexts() {
    const auto table = [this](const std::string& last) {
      return checksum("t.csv", "a,b,y\n1,2,0.5\n3,4,1.5\n5,6,2.25\n7,8," + last + "\n", ",target=y,validation=0");
    };
    QVERIFY(table("9"));
    QCOMPARE(table("9"), table("9"));
    QVERIFY(table("9") != table("8"));
    const auto text = [this](const std::string& content) {
      return checksum("t.txt", content, ",validation=0", "text:");
    };
    QVERIFY(text("to be or not to be"));
    QCOMPARE(text("to be or not to be"), text("to be or not to be"));
    QVERIFY(text("to be or not to be") != text("to be or not to eb"));
  }

  void generatedExamplesHaveNone() {
    QVERIFY(!data::open_data("synthetic:examples=100000000,shape=3x32x32,classes=10").train->checksum());
    QVERIFY(!data::open_data("synthetic:examples=100000000,vocabulary=65").train->checksum());
  }

private:
  std::optional<std::uint32_t> checksum(const std::string& name, const std::string& content, const std::string& options,
                                        const std::string& kind = "csv:") const {
    const std::string file = folder_.path().toStdString() + '/' + name;
    std::ofstream(file) << content;
    return data::open_data(kind + file + options, {.context = 4}).train->checksum();
  }

  QTemporaryDir folder_;
};

BATCHSCOPE_TEST(TestChecksum)
#include "tst_checksum.moc"
