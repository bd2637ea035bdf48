#include <QComboBox>
#include <QFileDialog>
#include <QLabel>
#include <QPlainTextEdit>
#include <QProcess>
#include <QPushButton>
#include <QSignalSpy>
#include <QUndoStack>

#include "core/base/shell_words.h"
#include "core/program/process/client.h"
#include "core/store/run_reader.h"
#include "ui/memory/fit_card.h"
#include "ui/new_run/client_card.h"
#include "ui/new_run/command_card.h"
#include "ui/new_run/command_edit.h"
#include "ui/new_run/new_run_here.h"

#include "test_program.h"
#include "test_python.h"
#include "tests/core/program/program_runs.h"

using namespace batchscope;
using namespace batchscope::test;
using namespace batchscope::ui;
using namespace batchscope::ui::test;

namespace {

/// The page with the form of a program.
struct ProgramHere : NewRunHere {
  ProgramHere() : NewRunHere(FormKind::program) {}
};

run::RunSpec every_program_field() {
  run::RunSpec spec;
  spec.name = "mine";
  spec.batch = {run::BatchChoice::Kind::number, 32};
  spec.accumulate = 2;
  spec.schedule = "linear:max=256";
  spec.memory_budget = 2'000'000'000;
  spec.on_oom = run::OnOom::fail;
  spec.seed = 7;
  spec.program =
      run::ProgramSpec{.command = {"python", "my train.py", "--batch={batch}", "--lr", "{lr}", "{{\"a\": 1}"},
                       .folder = "/tmp",
                       .set = {{"lr", "0.1"}, {"wd", "a=b"}},
                       .attach = false,
                       .metrics = {{"loss", "loss=(\\d+)|x"}},
                       .reads = {"csv:a.csv", "tensorboard:logs"},
                       .probe_steps = 5,
                       .probe_seconds = 1.5,
                       .grace = 0};
  return spec;
}

} // namespace

/// The form of a program of the user's own, its test and its start.
class TestProgramForm : public QObject {
  Q_OBJECT

private Q_SLOTS:
  void a_spec_put_in_comes_out_again() {
    ProgramHere here;
    const run::RunSpec spec = every_program_field();
    here.form.set_spec(spec);
    QCOMPARE(here.json(), run::to_json(spec));
    here.form.set_spec(empty_spec(FormKind::program));
    QVERIFY(!here.form.spec()); // no command
    here.set("command", "python train.py {batch}");
    run::RunSpec standard = empty_spec(FormKind::program);
    standard.program->command = {"python", "train.py", "{batch}"};
    QCOMPARE(here.json(), run::to_json(standard));
  }

  /// On a card that is not here, by the program itself.
  void its_sizes_on_a_card_are_computed() {
    BATCHSCOPE_NEEDS_PYTHON();
    ProgramHere here;
    const auto command_on = [](const char* device) {
      return QString::fromStdString(
          shell_line({test_python().toStdString(), BATCHSCOPE_SOURCE_DIR "/tests/gpu/training.py", "loop", "small_gpt",
                      "{batch}", "1000000", device}));
    };
    here.set("command", command_on("cuda:0"));
    here.set("max_batch", "32"); // fewer sizes are tried
    auto* card = here.page.findChild<FitCard*>();
    auto* cards = card->findChild<QComboBox*>("fit-card");
    QVERIFY(cards->count() > 20);
    QCOMPARE(cards->findData("v100-16gb"), -1); // torch has no kernels for it
    cards->setCurrentIndex(cards->findData("t4"));
    auto* start = card->findChild<QPushButton*>("fit-start");
    const auto said = [&] {
      QStringList texts;
      for (const QLabel* label : card->findChildren<QLabel*>())
        if (label->isVisibleTo(card))
          texts << label->text();
      return texts.join('\n');
    };
    start->click();
    QCOMPARE(start->text(), QString("Stop"));
    for (const char* answer : {"largest batch size", "mixed precision"}) {
      const auto answered = [&] { return said().contains(answer); };
      QTRY_VERIFY_WITH_TIMEOUT(answered() || here.bench->job_queue().idle(), 600'000);
      QVERIFY2(answered(), qPrintable(said()));
    }
    start->click(); // what else would save memory is not waited for
    QTRY_VERIFY_WITH_TIMEOUT(here.bench->job_queue().idle(), 60'000);
    QVERIFY2(said().contains("fits on t4") && said().contains("mixed precision"), qPrintable(said()));
    QVERIFY2(said().contains("activations"), qPrintable(said()));
    QVERIFY(!here.bench->job_queue().jobs().back()->stores());

    here.set("command", command_on("cpu"));
    start->click();
    QTRY_VERIFY_WITH_TIMEOUT(here.bench->job_queue().idle(), 300'000);
    QVERIFY2(said().contains("the program trains on \"cpu\""), qPrintable(said()));

    here.set("command", "python3 no_such_file.py");
    start->click();
    QTRY_VERIFY_WITH_TIMEOUT(here.bench->job_queue().idle(), 60'000);
    QVERIFY2(said().contains("no_such_file.py"), qPrintable(said()));
  }

  void an_empty_form_is_no_error_until_it_is_started() {
    ProgramHere here;
    QCOMPARE(here.error("command"), QString());
    QVERIFY(here.says("Enter the command"));
    for (const char* start : {"Start", "Find the batch size first", "Test"}) {
      here.click(start);
      QVERIFY(here.bench->job_queue().jobs().isEmpty());
    }
    QVERIFY(!here.error("command").isEmpty());
    QCOMPARE(here.page.focusWidget(), here.form.editor("command")->focusProxy());
  }

  void what_is_wrong_is_said_at_its_field_data() {
    QTest::addColumn<QString>("key");
    QTest::addColumn<QString>("text");
    QTest::addColumn<QString>("part");
    QTest::newRow("pipe") << "command"
                          << "python a.py | tee log"
                          << "without a shell";
    QTest::newRow("quote") << "command"
                           << "python 'a.py"
                           << "closing";
    QTest::newRow("placeholder") << "set"
                                 << "lr"
                                 << "NAME=VALUE";
    QTest::newRow("reserved") << "set"
                              << "batch=3"
                              << "{batch}";
    QTest::newRow("metric") << "metrics"
                            << "loss"
                            << "NAME=REGEX";
    QTest::newRow("steps") << "probe_steps"
                           << "0"
                           << "from 1";
    QTest::newRow("grace") << "grace"
                           << "-1"
                           << "0 or more";
    QTest::newRow("batch") << "batch"
                           << "auto:safe"
                           << "auto:safe is not accepted for a program; accepted: a whole number";
  }

  void what_is_wrong_is_said_at_its_field() {
    QFETCH(QString, key);
    QFETCH(QString, text);
    QFETCH(QString, part);
    ProgramHere here;
    here.set("command", "python train.py");
    here.set(key.toStdString(), text);
    QVERIFY2(here.error(key.toStdString()).contains(part), qPrintable(here.error(key.toStdString())));
    QCOMPARE(here.form.errors(), 1);
    QVERIFY(!here.form.spec());
  }

  void placeholders_are_found() {
    using Places = QList<QPair<int, int>>;
    QCOMPARE(CommandEdit::placeholders("a {batch} b{lr_2}"), (Places{{2, 7}, {11, 6}}));
    QCOMPARE(CommandEdit::placeholders("{{batch} {\"a\": 1} {}"), Places());
  }

  void what_placeholders_stand_for_is_said() {
    ProgramHere here;
    here.set("command", "python train.py --batch {batch} --seed {seed}");
    here.set("batch", "32");
    QVERIFY(here.says("{batch} becomes 32"));
    QVERIFY(here.says("{seed} becomes 1"));
  }

  void the_command_line_does_the_same() {
    ProgramHere here;
    here.form.set_spec(every_program_field());
    QString command = here.page.findChild<CommandCard*>()->command();
    QVERIFY(command.startsWith("batchscope-cli run --db "));
    // A shell splits it into what the form says.
    QProcess shell;
    shell.start("sh", {"-c", "printf '%s\\n' " + command.section(" -- ", 1)});
    QVERIFY(shell.waitForFinished(patience_ms));
    QCOMPARE(QString::fromUtf8(shell.readAllStandardOutput()),
             QString("python\nmy train.py\n--batch={batch}\n--lr\n{lr}\n{{\"a\": 1}\n"));
  }

  void both_forms_can_be_taken_back() {
    ProgramHere here;
    here.set("command", "python a.py");
    here.page.choose(FormKind::network);
    here.page.undo_stack()->undo();
    QCOMPARE(here.page.chosen(), FormKind::program);
    QCOMPARE(here.form.editor("command")->text(), QString());
    here.page.undo_stack()->redo();
    QCOMPARE(here.form.editor("command")->text(), QString("python a.py"));
  }

  void a_proposed_run_chooses_its_form_and_is_kept() {
    QJsonObject kept;
    {
      ProgramHere here;
      here.page.choose(FormKind::network);
      here.bench->propose_run(every_program_field());
      QCOMPARE(here.page.chosen(), FormKind::program);
      QCOMPARE(here.json(), run::to_json(every_program_field()));
      kept = here.page.state();
    }
    ProgramHere here;
    here.page.choose(FormKind::network);
    here.page.restore(kept);
    QCOMPARE(here.page.chosen(), FormKind::program);
    QCOMPARE(here.json(), run::to_json(every_program_field()));
    here.page.restore({});
    QCOMPARE(here.page.chosen(), FormKind::network);
  }

  void a_test_says_what_works() {
    ProgramHere here;
    here.set("command", "sh -c 'echo step 1; echo loss=0.5; exit 0'");
    here.set("metrics", "loss=loss=([0-9.]+)");
    QVERIFY(here.says("Not tested yet"));
    here.click("Test");
    QTRY_VERIFY_WITH_TIMEOUT(here.says("Test: 1 step"), patience_ms);
    QVERIFY(here.says("The program reported nothing"));
    QVERIFY(here.says("call run.report"));
    const auto outputs = here.page.findChildren<QPlainTextEdit*>();
    QVERIFY(std::any_of(outputs.begin(), outputs.end(), [](const QPlainTextEdit* each) {
      return each->isVisible() && each->toPlainText().contains("loss=0.5");
    }));
    QVERIFY(here.bench->run_database().runs().empty());
    here.set("command", "sh -c 'true'"); // another program
    QVERIFY(here.says("Not tested yet"));
  }

  /// Its size follows; a step cannot be split. Nothing was changed in it, and its framework is not known.
  void a_loop_that_is_attached_to_is_of_level_2() {
    const ProgramRuns runs;
    ProgramHere here;
    here.set("command", "python3 " + here.write("train.py", QByteArray(pretended_loader) + R"(
loader = Sizes(run, 16, 1000)
while True:
    loader.fetch()
    run.step(loss=1)
)"));
    QVERIFY(here.says("not needed if BatchScope attaches"));
    here.click("Test");
    QTRY_VERIFY_WITH_TIMEOUT(here.says("16, changed to 8 on request"), patience_ms);
    QTRY_VERIFY_WITH_TIMEOUT(here.says("Watched, followed and steered; your code is unchanged."), patience_ms);
    QVERIFY(here.says("the size is given to its loader"));
    QVERIFY(here.says("at the very next step; schedules, dragging"));
    QVERIFY(here.says("a step that runs out of memory cannot be repeated"));
    QVERIFY(here.says("Works for Trainers; elsewhere, run.backward(batch, fn, model)"));
    here.set("attach", "none");
    QVERIFY(here.says("Not tested yet"));
    QVERIFY(here.says("Attach to it, or call run.report"));
    here.click("Test");
    QTRY_VERIFY_WITH_TIMEOUT(here.says("Watched, followed and steered; an error ends it."), patience_ms);
    QVERIFY(!here.says("started again"));
  }

  void a_loop_that_is_only_watched_says_why() {
    const ProgramRuns runs;
    ProgramHere here;
    here.set("command", "python3 " + here.write("train.py", R"(
import batchscope
try:
    from batchscope.reasons import Reason
except ImportError:  # as one file
    from batchscope import Reason
run = batchscope.start()
run._watch_only(Reason("iterable-dataset", "in English"))
for step in range(5):
    run.step(loss=1)
)"));
    here.click("Test");
    QTRY_VERIFY_WITH_TIMEOUT(
        here.says("Level 1: the batch size of an IterableDataset can only be set before it begins."), patience_ms);
    QVERIFY(here.says("pause, one step, stop"));
    QVERIFY(here.says("Works for loops over a DataLoader and for Trainers"));
    QVERIFY(!here.says("started again"));
  }

  void a_program_in_which_no_loop_was_seen_says_so() {
    const ProgramRuns runs;
    for (const bool attach : {true, false}) {
      ProgramHere here;
      here.set("command", "sh -c 'exit 0'");
      here.set("attach", attach ? "auto" : "none");
      here.click("Test");
      QTRY_VERIFY_WITH_TIMEOUT(here.says(attach ? "no PyTorch training loop was found, and it does not call"
                                                : "BatchScope is not attached to it, and it does not call"),
                               patience_ms);
    }
  }

  void a_tested_program_can_be_planned() {
    const ProgramRuns runs;
    ProgramHere here;
    const QString file = here.write("train.py", QByteArray(pretended_loader) + R"(
loader = Sizes(run, 16, 1000)
while True:
    loader.fetch()
    run.step(loss=1)
)");
    here.set("command", "python3 " + file);
    QVERIFY(!here.button("Plan…")->isEnabled());
    QVERIFY(here.button("Plan…")->toolTip().contains("Test the program first"));
    here.click("Test");
    QTRY_VERIFY_WITH_TIMEOUT(here.button("Plan…")->isEnabled(), patience_ms);
    QSignalSpy planned(&*here.bench, &Workbench::plan_proposed);
    QSignalSpy wanted(&*here.bench, &Workbench::page_wanted);
    here.click("Plan…");
    QCOMPARE(planned.size(), 1);
    QCOMPARE(run::to_json(planned[0][0].value<run::RunSpec>()), here.json());
    QCOMPARE(wanted[0][0].toString(), QString("schedule"));
    here.set("command", "python3 " + file + " other");
    QVERIFY(!here.button("Plan…")->isEnabled());
  }

  void a_test_can_be_stopped() {
    ProgramHere here;
    here.set("command", "sleep 600");
    here.set("grace", "1");
    here.click("Test");
    QTRY_COMPARE_WITH_TIMEOUT(here.bench->job_queue().jobs().front()->state(), Job::State::working, patience_ms);
    here.click("Stop test");
    QTRY_VERIFY_WITH_TIMEOUT(here.button("Test"), patience_ms);
  }

  void what_cannot_start_is_said() {
    ProgramHere here;
    here.set("command", "no-such-command");
    here.click("Test");
    QTRY_VERIFY_WITH_TIMEOUT(here.says("no-such-command"), patience_ms);
    QTRY_VERIFY_WITH_TIMEOUT(here.button("Test"), patience_ms);
  }

  void a_started_program_is_a_run() {
    ProgramHere here;
    here.set("command", "sh -c 'echo loss=0.5; echo loss=0.25'");
    here.set("metrics", "loss=loss=([0-9.]+)");
    QSignalSpy wanted(&*here.bench, &Workbench::page_wanted);
    here.click("Start");
    QCOMPARE(wanted[0][0].toString(), QString("live"));
    Job* job = here.bench->job_queue().jobs().front();
    QTRY_VERIFY_WITH_TIMEOUT(job->over(), patience_ms);
    QCOMPARE(job->error(), QString());
    const store::RunReader reader(here.bench.database());
    const auto runs = reader.list();
    QCOMPARE(runs.size(), std::size_t(1));
    QCOMPARE(runs[0].outcome.status, telemetry::RunStatus::finished);
    QCOMPARE(runs[0].outcome.steps, 2);
    QCOMPARE(runs[0].settings.model, std::optional<std::string>("sh -c 'echo loss=0.5; echo loss=0.25'"));
    QCOMPARE(reader.spec_json(runs[0].id), here.json());
  }

  void the_client_is_written() {
    ProgramHere here;
    const QString file = here.folder.filePath("batchscope.py");
    QSignalSpy note(&*here.bench, &Workbench::note);
    here.click("Save batchscope.py…");
    auto* dialog = here.page.findChild<QFileDialog*>();
    QVERIFY(dialog && dialog->isVisible());
    Q_EMIT dialog->fileSelected(file);
    dialog->reject();
    QTRY_COMPARE(note.count(), 1);
    QFile saved(file);
    QVERIFY(saved.open(QIODevice::ReadOnly));
    QCOMPARE(saved.readAll().toStdString(), std::string(program::client_source()));
  }
};

BATCHSCOPE_TEST(TestProgramForm)
#include "tst_program_form.moc"
