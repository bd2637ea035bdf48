#include <QTest>

#include "core/base/json.h"
#include "core/run/environment.h"
#include "core/run/made_with.h"
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

  void ofATrainingProgram() {
    Environment environment;
    environment.program = "1.2";
    environment.cpu = "A processor";
    RunStart start;
    QCOMPARE(made_with(to_json(environment), start), std::string("BatchScope 1.2, A processor"));
    start.program = ProgramStart();
    QCOMPARE(made_with(to_json(environment), start), std::string("BatchScope 1.2, A processor"));
    start.program->framework = "lightning 2.6.6";
    start.program->torch = "2.11.0";
    start.program->device = "cuda:0";
    QCOMPARE(made_with(to_json(environment), start),
             std::string("BatchScope 1.2, A processor; lightning 2.6.6, PyTorch 2.11.0, device cuda:0"));
    QCOMPARE(made_with("", start), std::string("lightning 2.6.6, PyTorch 2.11.0, device cuda:0"));
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
