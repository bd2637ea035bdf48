#include "core/run/program_spec.h"

#include <QTest>

#include <algorithm>

#include "core/base/error.h"
#include "core/run/run_spec.h"
#include "core/run/spec_fields.h"
#include "test_program.h"

using namespace batchscope;
using namespace batchscope::run;

namespace {

RunSpec program_of_all_fields() {
  RunSpec spec;
  spec.name = "mine";
  spec.batch = {BatchChoice::Kind::number, 32, 0};
  spec.schedule = "linear:max=256,steps=50";
  spec.program = ProgramSpec{.command = {"python", "train.py", "--bs", "{batch}", "it's"},
                             .folder = "/some where",
                             .set = {{"lr", "0.1"}},
                             .attach = true,
                             .metrics = {{"loss", "loss=([0-9.]+)"}},
                             .reads = {"csv:metrics.csv"},
                             .probe_steps = 5,
                             .probe_seconds = 12.5,
                             .grace = 3};
  return spec;
}

/// The message of the error that the check throws; empty without one.
QString refusal(const RunSpec& spec) {
  try {
    check(spec);
  } catch (const Error& error) {
    return error.what();
  }
  return {};
}

} // namespace

class TestProgramSpec : public QObject {
  Q_OBJECT

private Q_SLOTS:
  void jsonHasTheProgramsFieldsAndNoOthers() {
    const RunSpec spec = program_of_all_fields();
    const RunSpec read = run_spec_from_json(to_json(spec));
    QVERIFY(read.program == spec.program);
    QCOMPARE(QString::fromStdString(to_json(read)), QString::fromStdString(to_json(spec)));
    const Json json = parse_json(to_json(spec));
    for (const char* absent : {"model", "data", "optimizer", "epochs", "dropout"})
      QVERIFY2(!json.contains(absent), absent);
    QVERIFY(stored_spec(to_json(spec)));
    QVERIFY(!parse_json(to_json(RunSpec{})).contains("program"));
  }

  void commandLine() {
    QCOMPARE(QString::fromStdString(to_command_line(program_of_all_fields())),
             QStringLiteral("--name mine --batch 32 --schedule linear:max=256,steps=50 "
                            "--cwd '/some where' --attach auto --set lr=0.1 --metric 'loss=loss=([0-9.]+)' "
                            "--read csv:metrics.csv --probe-steps 5 --probe-seconds 12.5 --grace 3 "
                            "-- python train.py --bs '{batch}' 'it'\\''s'"));
  }

  void placeholdersAreFields() {
    RunSpec spec = program_of_all_fields();
    const auto keys = keys_of(spec);
    QCOMPARE(keys.back(), std::string("set.lr"));
    QVERIFY(std::find(keys.begin(), keys.end(), "model") == keys.end());
    set_field(spec, "set.lr", "0.5");
    QCOMPARE(field_text(spec, "set.lr"), std::string("0.5"));
    QVERIFY_EXCEPTION_THROWN(set_field(spec, "set.momentum", "0.9"), Error);
    QVERIFY_EXCEPTION_THROWN(set_field(spec, "unknown", "0.9"), Error);
    RunSpec own;
    QVERIFY_EXCEPTION_THROWN(field_text(own, "set.lr"), Error);
  }

  void refuses_data() {
    QTest::addColumn<QString>("what");
    for (const char* what :
         {"command", "set name", "reserved", "metric", "steps", "seconds", "grace", "epochs", "auto"})
      QTest::newRow(what) << what;
  }
  void refuses() {
    QFETCH(QString, what);
    RunSpec spec = program_of_all_fields();
    QCOMPARE(refusal(spec), QString());
    QString said;
    if (what == "command") {
      spec.program->command.clear();
      said = "no command; accepted: -- and then the program with its arguments";
    } else if (what == "set name") {
      spec.program->set["a b"] = "1";
      said = "--set: \"a b\" is not accepted as a name; accepted: letters, digits, _ and -";
    } else if (what == "reserved") {
      spec.program->set["batch"] = "1";
      said = "--set: {batch} stands for the run's own; accepted: a name other than batch, accumulate, seed, run, out";
    } else if (what == "metric") {
      spec.program->metrics.push_back({"loss", ""});
      said = "--metric: \"loss=\" is not accepted; accepted: NAME=REGEX";
    } else if (what == "steps") {
      spec.program->probe_steps = 0;
      said = "--probe-steps: 0 is not accepted; accepted: a whole number, at least 1";
    } else if (what == "seconds") {
      spec.program->probe_seconds = 0;
      said = "--probe-seconds: 0 is not accepted; accepted: a number, above 0";
    } else if (what == "grace") {
      spec.program->grace = -1;
      said = "--grace: -1 is not accepted; accepted: a number, at least 0";
    } else if (what == "epochs") {
      spec.dropout = 0.5;
      said = "--dropout: the program decides this itself; accepted: without --dropout, or --set dropout=0.5 with "
             "{dropout} in the command, which stands for the value";
    } else {
      spec.batch = {BatchChoice::Kind::largest, 0, 0};
      said = "--batch: auto:largest is not accepted for a program; accepted: a whole number, at least 1; `find` "
             "searches for one";
    }
    QCOMPARE(refusal(spec), said);
    QCOMPARE(check_fields(spec).size(), std::size_t{1});
  }

  void hasTheNameOfItsScript_data() {
    QTest::addColumn<QStringList>("command");
    QTest::addColumn<QString>("name");
    QTest::newRow("script") << QStringList{"python", "-u", "src/train.py", "--eval", "b.py"} << "train.py";
    QTest::newRow("module") << QStringList{"python3", "-m", "package.train", "--batch", "8"} << "package.train";
    QTest::newRow("launcher") << QStringList{"python", "-m", "torch.distributed.run", "train.py"} << "train.py";
    QTest::newRow("another launcher") << QStringList{"accelerate", "launch", "train.py"} << "train.py";
    QTest::newRow("program") << QStringList{"/opt/bin/train", "{batch}"} << "train";
    QTest::newRow("none") << QStringList{} << "";
  }

  void hasTheNameOfItsScript() {
    QFETCH(QStringList, command);
    QFETCH(QString, name);
    ProgramSpec program;
    for (const QString& word : command)
      program.command.push_back(word.toStdString());
    QCOMPARE(QString::fromStdString(program_name(program)), name);
  }

  void refusesForeignJson() {
    QVERIFY_EXCEPTION_THROWN(program_spec_from_json(Json::parse(R"({"command": "python"})")), Error);
    QVERIFY_EXCEPTION_THROWN(program_spec_from_json(Json::parse(R"({"cmd": ["python"]})")), Error);
    const Json later = Json::parse(R"({"command": ["python", "train.py"], "nice": 19})");
    const ProgramSpec of_later = stored_program_from_json(later);
    QVERIFY(to_json(of_later)["nice"] == later["nice"]);
    QVERIFY_EXCEPTION_THROWN(check(of_later), Error);
    QVERIFY_EXCEPTION_THROWN(program_spec_from_json(Json::parse(R"({"set": {"lr": 0.1}})")), Error);
    QVERIFY_EXCEPTION_THROWN(program_spec_from_json(Json::parse("[1]")), Error);
  }
};

BATCHSCOPE_TEST(TestProgramSpec)
#include "tst_program_spec.moc"
