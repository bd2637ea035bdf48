#include "core/compare/runs.h"

#include <QTest>

#include "core/compare/table.h"
#include "core/run/run_spec.h"
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

} // namespace

/// What stored runs are compared by.
class TestRuns : public QObject {
  Q_OBJECT

private Q_SLOTS:
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
