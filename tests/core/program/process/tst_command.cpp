#include <QTest>

#include <string>
#include <vector>

#include "core/base/error.h"
#include "core/program/process/command.h"
#include "test_program.h"

using namespace batchscope;
using namespace batchscope::program;

namespace {

using Arguments = std::vector<std::string>;

run::ProgramSpec program_of(Arguments command) {
  run::ProgramSpec program;
  program.command = std::move(command);
  return program;
}

run::RunSpec spec_of(Arguments command) {
  run::RunSpec spec;
  spec.program = program_of(std::move(command));
  return spec;
}

/// The message of the Error that `function` throws; empty without one.
template <typename Function> std::string refused(Function&& function) {
  try {
    function();
  } catch (const Error& error) {
    return error.kind() == Error::Kind::input ? error.what() : "";
  }
  return "";
}

} // namespace

class TestCommand : public QObject {
  Q_OBJECT

private Q_SLOTS:
  void placeholders() {
    run::ProgramSpec program = program_of({"python3", "train.py", "--bs={batch}", "{batch}x{accumulate}", "{seed}",
                                           "{run}", "{out}/model", "{data-set}", "plain"});
    program.set["data-set"] = "a b{batch}"; // a value is not filled in again
    const Filling filling{.batch = 16, .accumulate = 2, .seed = 7, .run = 42, .out = "/tmp/out"};
    QCOMPARE(filled_command(program, filling),
             (Arguments{"python3", "train.py", "--bs=16", "16x2", "7", "42", "/tmp/out/model", "a b{batch}", "plain"}));
    QCOMPARE(placeholders_of(program),
             (std::set<std::string>{"batch", "accumulate", "seed", "run", "out", "data-set"}));
  }

  void braces() {
    const Filling filling{.batch = 16, .out = {}};
    const auto filled = [&](const std::string& argument) {
      return filled_command(program_of({argument}), filling).front();
    };
    QCOMPARE(filled("{{batch}"), std::string("{batch}"));
    QCOMPARE(filled("{{{batch}}"), std::string("{16}"));
    QCOMPARE(filled("{{"), std::string("{"));
    // JSON and other uses of braces stay.
    QCOMPARE(filled(R"({"size": {batch}, "more": {}})"), std::string(R"({"size": 16, "more": {}})"));
    QCOMPARE(filled("{"), std::string("{"));
    QCOMPARE(filled("}{"), std::string("}{"));
    QCOMPARE(filled("{batch"), std::string("{batch"));
    QCOMPARE(filled("{a b}"), std::string("{a b}"));
  }

  void unknownNames() {
    run::RunSpec spec = spec_of({"train", "${HOME}"});
    QCOMPARE(refused([&] { check_command(spec); }),
             std::string("{HOME} in the command is not known; accepted: {batch}, {accumulate}, {seed}, {run}, {out}, "
                         "names given by --set (in the window: Placeholders), and {{ for a brace"));
    spec.program->set["width"] = "3";
    spec.program->command = {"train", "{width}", "{widht}"};
    QVERIFY(refused([&] { check_command(spec); }).find("{out}, {width}, names") != std::string::npos);
    spec.program->command = {"train"};
    QVERIFY(refused([&] { check_command(spec); }).starts_with("--set width: {width} is not in the command"));
    spec.program->command = {"train", "{width}"};
    QCOMPARE(refused([&] { check_command(spec); }), std::string());
  }

  void batchHasAWayToTheProgram() {
    run::RunSpec spec = spec_of({"train"});
    QCOMPARE(refused([&] { check_command(spec); }), std::string());
    spec.batch = {.kind = run::BatchChoice::Kind::number, .number = 16};
    QVERIFY(refused([&] { check_command(spec); }).starts_with("the program takes no batch size: put {batch}"));
    spec.program->attach = true;
    QCOMPARE(refused([&] { check_command(spec); }), std::string());
    spec.program->attach = false;
    spec.program->command = {"train", "{batch}"};
    QCOMPARE(refused([&] { check_command(spec); }), std::string());
    spec.batch = {};
    QVERIFY(refused([&] { check_command(spec); }).starts_with("{batch} is in the command, but no batch size is set"));
  }

  void patternsAreChecked() {
    run::RunSpec spec = spec_of({"train"});
    spec.program->metrics = {{"loss", "loss ("}};
    QVERIFY(refused([&] { check_command(spec); }).starts_with("--metric loss: \"loss (\" is no regular expression"));
  }
};

BATCHSCOPE_TEST(TestCommand)
#include "tst_command.moc"
