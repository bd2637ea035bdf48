#include "ui/new_run/program_panel.h"

#include <QFileDialog>
#include <QStandardPaths>

#include <algorithm>

#include "core/program/trial/tryout.h"
#include "ui/memory/fit_card.h"
#include "ui/new_run/client_card.h"
#include "ui/new_run/field_editor.h"
#include "ui/new_run/ladder_card.h"
#include "ui/new_run/test_card.h"
#include "ui/widgets/file_dialog.h"
#include "ui/widgets/format.h"
#include "ui/widgets/widgets.h"
#include "ui/workbench/known_start.h"
#include "ui/workbench/program_fit.h"

namespace batchscope::ui {

namespace {

bool takes(const run::ProgramSpec& program, const char* placeholder) {
  return std::any_of(program.command.begin(), program.command.end(), [&](const std::string& argument) {
    return QString::fromStdString(argument).remove(QStringLiteral("{{")).contains(QLatin1String(placeholder));
  });
}

} // namespace

ProgramPanel::ProgramPanel(Workbench& workbench, QWidget* parent)
    : RunPanel(FormKind::program, parent), workbench_(workbench), ladder_(new LadderCard(this)),
      fit_(new FitCard(workbench.theme(), true, this)), test_(new TestCard(this)) {
  program_fit_ = new ProgramFit(workbench, *fit_, [this] {
    if (!form().spec())
      form().go_to_error();
    return form().spec();
  });
  auto* client = new ClientCard(this);
  connect(client, &ClientCard::copied, &workbench,
          [&workbench] { Q_EMIT workbench.note(tr("Copied to the clipboard.")); });
  connect(client, &ClientCard::saved, &workbench,
          [&workbench](const QString& file) { Q_EMIT workbench.note(tr("Saved to %1.").arg(file)); });
  connect(client, &ClientCard::problem, &workbench, &Workbench::problem);
  lay_out(test_, {ladder_, fit_, client});
  auto* browse = plain_button(tr("Browse…"), this);
  browse->setToolTip(tr("Choose the folder in which the program runs"));
  form().editor("folder")->add_button(browse);
  connect(browse, &QPushButton::clicked, this, &ProgramPanel::ask_for_folder);
}

void ProgramPanel::show_form() {
  form().show_hint("command", placeholder_hint());
  show_ladder();
}

/// Explains the placeholders of the command.
QString ProgramPanel::placeholder_hint() const {
  const auto& spec = form().spec();
  if (!spec)
    return {};
  const run::ProgramSpec& program = *spec->program;
  QStringList meanings;
  const bool given = spec->batch.kind == run::BatchChoice::Kind::number;
  if (takes(program, "{batch}"))
    meanings.append(
        given
            ? tr("{batch} becomes %1: examples of one forward and backward pass").arg(format_count(spec->batch.number))
            : tr("{batch} is the number of examples of one forward and backward pass: set a batch size"));
  if (takes(program, "{accumulate}"))
    meanings.append(tr("{accumulate} becomes %1").arg(format_count(spec->accumulate)));
  if (takes(program, "{seed}"))
    meanings.append(tr("{seed} becomes %1").arg(spec->seed));
  if (takes(program, "{out}"))
    meanings.append(tr("{out} becomes a fresh folder"));
  if (meanings.isEmpty() && given && program.attach)
    meanings.append(tr("The batch size is given to its Trainer or loader"));
  return meanings.join(QStringLiteral("; "));
}

void ProgramPanel::show_ladder() {
  const auto& spec = form().spec();
  const bool known = tried_ && spec && tested_ && same_program(*spec->program, *tested_);
  ladder_->show_program(spec && takes(*spec->program, "{batch}"), spec && spec->program->attach,
                        known ? tried_.get() : nullptr);
}

void ProgramPanel::test() {
  if (job_)
    return job_->cancel();
  if (!form().spec())
    return form().go_to_error();
  tested_ = form().spec()->program;
  tried_.reset();
  failure_.clear();
  job_ = workbench_.job_queue().try_out(*form().spec());
  test_->show_working({});
  scroll_to(*test_);
  show_ladder();
  connect(job_, &Job::progressed, this, &ProgramPanel::show_job);
  connect(job_, &Job::state_changed, this, &ProgramPanel::show_job);
  Q_EMIT testing_changed();
}

void ProgramPanel::show_job() {
  if (!job_)
    return;
  const Job& job = *job_;
  if (!job.over())
    return test_->show_working(workbench_.job_queue().activity_of(job));
  disconnect(job_, nullptr, this, nullptr);
  job_ = nullptr;
  tried_ = job.tried();
  if (job.state() == Job::State::failed)
    test_->show_failure(failure_ = job.error());
  else if (tried_)
    test_->show_result(*tried_);
  else
    test_->show_none();
  scroll_to(*test_);
  show_ladder();
  Q_EMIT testing_changed();
}

bool ProgramPanel::shows_problem(const QString& problem) const {
  return (!failure_.isEmpty() && problem.contains(failure_)) ||
         (!program_fit_->failure().isEmpty() && problem.contains(program_fit_->failure()));
}

void ProgramPanel::ask_for_folder() {
  QFileDialog* dialog = open_file_dialog(this, tr("Choose the folder in which the program runs"), {});
  dialog->setFileMode(QFileDialog::Directory);
  dialog->setOption(QFileDialog::ShowDirsOnly);
  if (const QString folder = form().editor("folder")->text(); !folder.isEmpty())
    dialog->setDirectory(folder);
  connect(dialog, &QFileDialog::fileSelected, this, [this](const QString& folder) {
    form().editor("folder")->set_text("folder", folder);
    form().editor("folder")->setFocus();
  });
  dialog->open();
}

} // namespace batchscope::ui

#include "moc_program_panel.cpp"
