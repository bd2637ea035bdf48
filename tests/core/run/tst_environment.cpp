#include <QTest>

#include "core/base/json.h"
#include "core/run/environment.h"
#include "test_program.h"

using namespace batchscope;
using namespace batchscope::run;

class TestEnvironment : public QObject {
  Q_OBJECT

private Q_SLOTS:
  void jsonAndText() {
    Environment environment;
    environment.program = "1.2";
    environment.libtorch = "2.15.0";
    environment.device = "NVIDIA H200";
    environment.driver = "550.1";
    environment.cpu = "A processor";
    environment.threads = 8;
    environment.seed = 7;
    environment.data_checksum = "00e3069a";
    QCOMPARE(QString::fromStdString(environment_text(to_json(environment))),
             QString("BatchScope 1.2, LibTorch 2.15.0, NVIDIA H200, driver 550.1, A processor, 8 threads, data CRC-32C "
                     "00e3069a"));
    const Json json = parse_json(to_json(environment));
    QCOMPARE(json["seed"].get<int>(), 7);
    QCOMPARE(json["threads"].get<int>(), 8);
    environment.device = environment.cpu;
    environment.driver.clear();
    environment.threads = 1;
    QCOMPARE(QString::fromStdString(environment_text(to_json(environment))),
             QString("BatchScope 1.2, LibTorch 2.15.0, A processor, 1 thread, data CRC-32C 00e3069a"));
    QVERIFY(parse_json(to_json(environment))["driver"].is_null());
  }

  void ofOtherPrograms() {
    QCOMPARE(environment_text("{}"), std::string());
    QCOMPARE(environment_text("no JSON"), std::string());
    QCOMPARE(environment_text(R"([1])"), std::string());
    QCOMPARE(environment_text(R"({"cpu": ["x"], "threads": "many"})"), std::string("[\"x\"], many threads"));
  }

  void ofThisMachine() { QVERIFY(!environment_here().program.empty()); }
};

BATCHSCOPE_TEST(TestEnvironment)
#include "tst_environment.moc"
