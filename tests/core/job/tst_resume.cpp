#include "core/job/resume.h"
#include "core/store/run_reader.h"
#include "core/store/run_store.h"

#include <QTest>

#include "core/base/error.h"
#include "core/telemetry/english.h"
#include "killed_runs.h"
#include "test_events.h"
#include "test_program.h"

using namespace batchscope;
using namespace batchscope::test;
using namespace batchscope::job;
using namespace batchscope::job::test;

namespace fs = std::filesystem;

namespace {

/// A run that was stopped after some steps, with its checkpoints.
class StoppedRun {
public:
  explicit StoppedRun(const run::RunSpec& spec = killed_spec(0), std::int64_t stop_after = 20) {
    struct Stopping : Watch {
      void started(const StartedRun& run) override { control = run.control; }
      void record(const telemetry::StepRecord& record) override {
        if (record.step == stop_after)
          control->stop();
      }
      std::shared_ptr<run::RunControl> control;
      std::int64_t stop_after = 0;
    } watch;
    watch.stop_after = stop_after;
    const auto session = run::open_session(spec);
    store::RunStore store(file());
    run_and_store(*session, spec, std::nullopt, store, {}, watch, std::make_shared<run::JobControl>());
  }

  fs::path file() const { return folder_.file(); }
  fs::path checkpoints() const { return checkpoint::folder_of_run(file(), store::RunReader(file()).run(1).uid); }
  fs::path newest() const { return checkpoint::files_in(checkpoints()).at(0).path; }

  void resume(Watch& watch) const {
    Resumable resumable = find_resumable(file(), 1);
    const auto session = open_resumed(resumable);
    store::RunStore store(file());
    const RunOptions options{.sweep = {}, .claimed = {}, .end_early = {}, .resumed = &resumable};
    run_and_store(*session, resumable.spec, std::nullopt, store, options, watch, std::make_shared<run::JobControl>());
  }

  /// What resuming refuses with, in one line; nothing was changed then.
  std::string refusal() const {
    const std::string before = store::test::text_of(file());
    std::string message;
    try {
      Resumable resumable = find_resumable(file(), 1);
      open_resumed(resumable);
    } catch (const Error& error) {
      message = error.kind() == Error::Kind::input ? error.what() : "another kind of error";
    }
    if (store::test::text_of(file()) != before)
      return "the database was changed";
    return message.find('\n') == std::string::npos ? message : "more than one line";
  }

private:
  store::test::Folder folder_;
};

void damage(const fs::path& file) {
  std::string bytes = checkpoint::test::bytes_of(file);
  bytes[bytes.size() / 2] = static_cast<char>(bytes[bytes.size() / 2] ^ 1);
  checkpoint::test::write_bytes(file, bytes);
}

/// The checkpoint with another label, whole and with the right checksum.
void relabel(const fs::path& file, const std::function<void(checkpoint::Checkpoint&)>& change) {
  checkpoint::Checkpoint checkpoint = checkpoint::read(file);
  change(checkpoint);
  checkpoint::write(file, checkpoint);
}

bool has(const std::string& text, const char* part) {
  return text.find(part) != std::string::npos;
}

} // namespace

/// A run that ended early goes on from its last checkpoint.
class TestResume : public QObject {
  Q_OBJECT

private Q_SLOTS:
  void aKilledRunEndsWithTheSameBits_data() {
    QTest::addColumn<int>("row");
    for (std::size_t row = 0; row < killed_specs().size(); ++row)
      if (row == 0 || !batchscope::test::sanitized)
        QTest::newRow(killed_specs()[row].name) << static_cast<int>(row);
  }
  void aKilledRunEndsWithTheSameBits() {
    QFETCH(int, row);
    kill_and_compare(static_cast<std::size_t>(row), 1, 100 + static_cast<std::uint32_t>(row));
  }

  void aDamagedCheckpointIsPassedOver() {
    const StoppedRun run;
    const auto files = checkpoint::files_in(run.checkpoints());
    QVERIFY(files.size() >= 2);
    damage(files[0].path);
    {
      const Resumable found = find_resumable(run.file(), 1);
      QCOMPARE(found.checkpoint.label.step, files[1].step);
      QCOMPARE(found.notes.size(), std::size_t{1});
      QVERIFY(has(telemetry::english(found.notes[0]), files[0].path.c_str()));
    }
    Watch watch;
    run.resume(watch);
    const store::RunReader reader(run.file());
    QCOMPARE(reader.run(1).outcome.status, telemetry::RunStatus::finished);
    bool said = false;
    for (const telemetry::Event& event : reader.events(1))
      said = said || (kind_text(event) == "resumed" && has(detail_text(event), "damaged (checksum)"));
    QVERIFY(said);
    for (const checkpoint::File& file : checkpoint::files_in(run.checkpoints()))
      checkpoint::read(file.path); // the damaged one is gone
  }

  void whatCannotBeResumedIsRefusedWithWhatCanBeDone() {
    StoppedRun run;
    const fs::path newest = run.newest();
    const auto restore = [whole = checkpoint::read(newest), newest] { checkpoint::write(newest, whole); };

    relabel(newest, [](auto& checkpoint) { checkpoint.label.run = std::string(32, '0'); });
    QVERIFY(has(run.refusal(), "of another run"));
    restore();
    relabel(newest, [](auto& checkpoint) {
      run::RunSpec other = killed_spec(0);
      other.dropout = 0.3;
      checkpoint.label.spec_json = run::to_json(other);
    });
    QVERIFY(has(run.refusal(), "other settings"));
    restore();
    relabel(newest, [](auto& checkpoint) { checkpoint.label.data_checksum = "00000000"; });
    QVERIFY(has(run.refusal(), "training data have changed"));
    restore();
    relabel(newest, [](auto& checkpoint) { checkpoint.tensors[0].shape = {checkpoint.tensors[0].shape[0], 1, 9}; });
    QVERIFY(has(run.refusal(), "another model"));
    restore();
    QCOMPARE(run.refusal(), std::string());

    for (const checkpoint::File& file : checkpoint::files_in(run.checkpoints()))
      damage(file.path);
    QVERIFY(has(run.refusal(), "no checkpoint that can be used"));
    fs::remove_all(run.checkpoints());
    QVERIFY(has(run.refusal(), "--checkpoint-every"));
    store::RunStore(run.file()).set_deleted({1}, true);
    QVERIFY(has(run.refusal(), "there is no run 1"));
  }

  void runsThatGoOnOrHaveFinishedAreRefused() {
    const StoppedRun run;
    Watch watch;
    run.resume(watch);
    QVERIFY(has(run.refusal(), "has finished"));
    const StoppedRun stopped;
    store::RunStore store(stopped.file());
    const auto other = store.begin(store::test::new_run("running"));
    const auto refusal = store::test::error_of([&] { find_resumable(stopped.file(), other->id()); });
    QVERIFY(has(refusal, "is running"));
    QVERIFY(has(refusal, "watch"));
  }

  /// The window shows a run as a whole.
  void whoWantsItGetsTheHistory() {
    const StoppedRun run;
    struct Seeing : Watch {
      bool wants_history() const override { return wants; }
      void record(const telemetry::StepRecord& record) override { steps += record.step; }
      void event(telemetry::Event event) override { evaluations += kind_text(event) == "evaluation" ? 1 : 0; }
      bool wants = true;
      QList<qint64> steps;
      int evaluations = 0;
    } seeing;
    run.resume(seeing);
    QCOMPARE(seeing.steps.size(), killed_run_steps);
    for (qsizetype i = 0; i < seeing.steps.size(); ++i)
      QCOMPARE(seeing.steps[i], i + 1);
    const StoppedRun again;
    seeing = {};
    seeing.wants = false;
    again.resume(seeing);
    QCOMPARE(seeing.steps.front(), qint64{21});
  }

  /// What a default budget was, it stays.
  void keepsItsBudget() {
    run::RunSpec spec = killed_spec(0);
    spec.memory_budget.reset();
    const StoppedRun run(spec);
    Resumable resumable = find_resumable(run.file(), 1);
    QVERIFY(resumable.start.budget_bytes > 0);
    resumable.start.budget_bytes = 123'456'789;
    QCOMPARE(open_resumed(resumable)->budget_bytes(), std::uint64_t{123'456'789});
    resumable.start.budget_bytes = INT64_MAX; // more than there is
    QVERIFY(open_resumed(resumable)->budget_bytes() < std::uint64_t{1} << 45);
  }
};

BATCHSCOPE_TEST(TestResume, train_if_asked)
#include "tst_resume.moc"
