#include "core/compare/runs.h"
#include "core/store/run_reader.h"
#include "core/store/run_store.h"

#include <algorithm>

#include <QTest>

#include "core/compare/table.h"
#include "core/run/run_spec.h"
#include "core/run/run_start.h"
#include "core/run/spec_fields.h"
#include "core/telemetry/message.h"
#include "test_program.h"
#include "tests/core/store/store_test.h"

using namespace batchscope;
using namespace batchscope::compare;

namespace {

Comparison compared_commands(const std::vector<std::vector<std::string>>& commands) {
  const store::test::Folder folder;
  store::RunStore store(folder.file());
  std::vector<std::int64_t> ids;
  for (const auto& command : commands) {
    run::RunSpec spec;
    spec.program = run::ProgramSpec{.command = command, .set = {{"wd", "0.1"}}};
    store::NewRun run;
    run.spec_json = run::to_json(spec);
    ids.push_back(store.add_finished(run, {}));
  }
  return Comparison(read_runs(store::RunReader(folder.file()), ids));
}

/// A run of a program: what it was given and what it said of itself.
struct Told {
  run::RunSpec spec;
  std::string settings;
};

Told told(const std::vector<std::pair<std::string, std::string>>& given, const std::string& settings) {
  Told run{.spec = {}, .settings = settings};
  run.spec.program = run::ProgramSpec{.command = {"train"}, .attach = true};
  for (const auto& [key, value] : given)
    if (key.starts_with("set."))
      run.spec.program->set[key.substr(4)] = value;
    else
      run::set_field(run.spec, key, value);
  return run;
}

/// Two runs with the same settings, one of them with this event.
Comparison compared_with(const telemetry::EventBody& body) {
  const store::test::Folder folder;
  store::RunStore store(folder.file());
  std::vector<std::int64_t> ids;
  for (const bool changed : {false, true}) {
    store::NewRun run;
    run.spec_json = run::to_json(run::RunSpec());
    const auto writer = store.begin(run);
    if (changed)
      writer->sink().event({.step = 3, .seconds = 1, .body = body, .values = {}});
    writer->finish({});
    ids.push_back(writer->id());
  }
  return Comparison(read_runs(store::RunReader(folder.file()), ids));
}

Comparison compared(const std::vector<Told>& programs) {
  const store::test::Folder folder;
  store::RunStore store(folder.file());
  std::vector<std::int64_t> ids;
  for (const Told& program : programs) {
    run::RunStart start;
    start.program = run::ProgramStart{.settings = program.settings};
    store::NewRun run;
    run.spec_json = run::to_json(program.spec);
    run.start_json = run::to_json(start);
    ids.push_back(store.add_finished(run, {}));
  }
  return Comparison(read_runs(store::RunReader(folder.file()), ids));
}

} // namespace

/// What stored runs are compared by.
class TestRuns : public QObject {
  Q_OBJECT

private Q_SLOTS:
  /// Who drags the plan of one run makes no repeat of the others.
  void anEditedRunIsNoRepeat() {
    const Comparison edited =
        compared_with(telemetry::ScheduleEdit{.schedule = "piecewise:3=64", .before = "constant"});
    QCOMPARE(edited.settings.differing, (std::vector<std::string>{"schedule"}));
    QCOMPARE(edited.groups.size(), 2U);
    QCOMPARE(edited.groups[1].label(), std::string("schedule constant, edited"));
    const Comparison refused = compared_with(
        telemetry::ScheduleEdit{.schedule = "linear", .refused = telemetry::because(telemetry::Words::single_example)});
    QCOMPARE(refused.groups.size(), 1U);
    QCOMPARE(compared_with(telemetry::SharesEdit{.shares = "1:2"}).groups.size(), 2U);
  }

  void aGroupNamesThreeOfManySettings() {
    Group group;
    group.values = {{"lr", "0.1"}, {"init", ""}, {"dropout", "0"}, {"clip", "1"}};
    QCOMPARE(group.label(), std::string("lr 0.1, init , dropout 0, clip 1"));
    group.values.emplace_back("seed", "2");
    QCOMPARE(group.label(), std::string("lr 0.1, dropout 0, clip 1 and 2 other settings"));
    group.values.emplace_back("batch", "64");
    QCOMPARE(group.label(), std::string("batch size 64, lr 0.1, dropout 0 and 3 other settings"));
  }

  void argumentsOfAProgramAreSettings() {
    const Comparison runs = compared_commands({{"python", "-u", "my train.py", "--lr", "0.1", "--batch_size=8"},
                                               {"python", "-u", "my train.py", "--lr", "0.2", "--batch_size=8"}});
    QCOMPARE(runs.settings.differing, (std::vector<std::string>{"--lr"}));
    QCOMPARE(setting_text(runs.runs[1], "--lr"), std::string("0.2"));
    QCOMPARE(setting_text(runs.runs[0], "--batch_size"), std::string("8"));
    QCOMPARE(setting_text(runs.runs[0], "command"), std::string("python -u 'my train.py'"));
    QCOMPARE(setting_text(runs.runs[0], "set.wd"), std::string("0.1"));
    QCOMPARE(runs.groups[0].label(), std::string("--lr 0.1"));
    QCOMPARE(title(setting_columns(runs.runs, {"--batch_size"}).front()), std::string("--batch_size"));
  }

  void whatDoesNotAffectTrainingTellsNoRepeatsApart() {
    const store::test::Folder folder;
    store::RunStore store(folder.file());
    std::vector<std::int64_t> ids;
    for (const std::uint64_t seed : {1, 2}) {
      run::RunSpec spec;
      spec.seed = seed;
      spec.save = "weights-" + std::to_string(seed) + ".safetensors";
      spec.checkpoint_every = static_cast<std::int64_t>(seed) * 100;
      store::NewRun run;
      run.spec_json = run::to_json(spec);
      ids.push_back(store.add_finished(run, {}));
    }
    const Comparison runs(read_runs(store::RunReader(folder.file()), ids));
    QCOMPARE(runs.groups.size(), std::size_t{1});
    QCOMPARE(runs.groups[0].runs.size(), std::size_t{2});
    QVERIFY(std::find(runs.settings.differing.begin(), runs.settings.differing.end(), "save") !=
            runs.settings.differing.end()); // the table still shows it
  }

  void patternsOfSeriesAreNoSetting() {
    const store::test::Folder folder;
    store::RunStore store(folder.file());
    std::vector<std::int64_t> ids;
    for (const char* pattern : {"a (.*)", "b (.*)"}) {
      run::RunSpec spec;
      spec.program = run::ProgramSpec{.command = {"train"}, .metrics = {{"loss", pattern}, {"acc", "x"}}};
      store::NewRun run;
      run.spec_json = run::to_json(spec);
      ids.push_back(store.add_finished(run, {}));
    }
    const Comparison runs(read_runs(store::RunReader(folder.file()), ids));
    QVERIFY(runs.settings.differing.empty());
    QCOMPARE(setting_text(runs.runs[0], "metrics"), std::string("acc, loss"));
  }

  /// A rate that the program was given is no setting of its own; one that it was changed to is.
  void whatAProgramSaysSeparatesRunsThatItsCommandDoesNot() {
    std::vector<Told> programs{
        told({{"set.lr", "1e-1"}, {"seed", "1"}}, R"({"learning_rate":0.1,"seed":1,"bf16":true})"),
        told({{"set.lr", "1e-1"}, {"seed", "2"}}, R"({"learning_rate":0.1,"seed":2,"bf16":true})"),
        told({{"set.lr", "0.20"}, {"seed", "1"}}, R"({"learning_rate":0.2,"seed":1,"bf16":true})")};
    const Comparison same = compared(programs);
    QCOMPARE(same.settings.differing, (std::vector<std::string>{"seed", "set.lr"}));
    QCOMPARE(same.groups.size(), std::size_t{2});
    QCOMPARE(setting_text(same.runs[0], "program.bf16"), std::string("true"));
    programs.push_back(told({{"set.lr", "0.20"}, {"seed", "1"}}, R"({"learning_rate":0.2,"seed":1,"bf16":false})"));
    const Comparison changed = compared(programs);
    QCOMPARE(changed.settings.differing, (std::vector<std::string>{"seed", "set.lr", "program.bf16"}));
    QCOMPARE(changed.groups.size(), std::size_t{3});
    QCOMPARE(changed.groups.back().label(), std::string("lr 0.20, bf16 false"));
  }

  void whatAProgramSaysIsNotHiddenByTheSeed() {
    const Comparison runs =
        compared({told({{"seed", "1"}}, R"({"learning_rate":0.1})"), told({{"seed", "2"}}, R"({"learning_rate":0.2})"),
                  told({{"seed", "3"}}, R"({"learning_rate":3})")});
    QCOMPARE(runs.settings.differing, (std::vector<std::string>{"seed", "program.learning_rate"}));
    QCOMPARE(runs.groups.size(), std::size_t{3});
    const Comparison like_seeds =
        compared({told({{"seed", "1"}}, R"({"warmup_steps":1})"), told({{"seed", "2"}}, R"({"warmup_steps":2})")});
    QCOMPARE(like_seeds.groups.size(), std::size_t{2});
  }

  /// Both vary, and the answer may be due to either.
  void aRateThatFollowsTheBatchIsShown() {
    const Comparison runs = compared({told({{"batch", "16"}}, R"({"learning_rate":0.1,"optimizer":"SGD"})"),
                                      told({{"batch", "32"}}, R"({"learning_rate":0.2,"optimizer":"SGD"})")});
    QCOMPARE(runs.settings.differing, (std::vector<std::string>{"batch", "program.learning_rate"}));
    QCOMPARE(runs.groups[1].label(), std::string("batch size 32, learning rate 0.2"));
    QCOMPARE(title(setting_columns(runs.runs, {"program.learning_rate"}).front()), std::string("learning rate"));
  }

  /// A placeholder may have the name of a result, which is shown in words of its own.
  void aPlaceholderIsShownByItsOwnName() {
    const Comparison runs = compared({told({{"set.seconds", "1"}}, "{}"), told({{"set.seconds", "2"}}, "{}")});
    QCOMPARE(title(setting_columns(runs.runs, {"set.seconds"}).front()), std::string("seconds"));
  }

  void namesThatDifferInCaseAreTheSame() {
    const Comparison runs = compared({told({{"set.optim", "adamw"}}, R"({"optimizer":"AdamW"})"),
                                      told({{"set.optim", "sgd"}}, R"({"optimizer":"SGD"})")});
    QCOMPARE(runs.settings.differing, (std::vector<std::string>{"set.optim"}));
  }

  /// The seed of a spec whose program was not given it is no seed of the run; what the program says is.
  void theSeedIsTheOneThatWasUsed() {
    Told given = told({}, "{}"), own = told({}, R"({"seed":42})"), by_placeholder = told({}, "{}");
    given.spec.program->seeded = true;
    by_placeholder.spec.program->command = {"train", "--seed={seed}"};
    const Comparison runs = compared({told({}, "{}"), given, own, by_placeholder, told({{"seed", "2"}}, "{}")});
    std::vector<std::string> seeds;
    for (const ComparedRun& run : runs.runs)
      seeds.push_back(setting_text(run, "seed"));
    QCOMPARE(seeds, (std::vector<std::string>{"default", "1", "42", "1", "2"}));
  }

  void anOptionMayBeAloneOrComeTwice() {
    const Comparison runs = compared_commands({{"train", "--bf16", "--tag=a", "--tag", "b"}, {"train"}});
    QCOMPARE(setting_text(runs.runs[0], "--bf16"), std::string("on"));
    QCOMPARE(setting_text(runs.runs[0], "--tag"), std::string("a b"));
    QCOMPARE(setting_text(runs.runs[1], "--bf16"), std::string("-"));
    QCOMPARE(runs.groups.size(), std::size_t{2});
  }
};

BATCHSCOPE_TEST(TestRuns)
#include "tst_runs.moc"
