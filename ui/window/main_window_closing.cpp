// Closing the window: never in the middle of a run, and never with unsaved data.
#include <algorithm>

#include <QCloseEvent>
#include <QMessageBox>
#include <QPushButton>
#include <QStackedWidget>

#include "ui/widgets/widgets.h"
#include "ui/window/main_window.h"

namespace batchscope::ui {

void MainWindow::closeEvent(QCloseEvent* event) {
  if (may_close_now()) {
    keep_timer_.stop();
    keep_now();
    event->accept();
    return;
  }
  event->ignore();
  if (closing_)
    return;
  if (may_close_at_once())
    close_without_asking();
  else
    ask_to_close();
}

bool MainWindow::may_close_now() const {
  return workbench_.job_queue().idle() && workbench_.run_database().exports().isEmpty() && care_->idle();
}

bool MainWindow::may_close_at_once() const {
  const auto& jobs = workbench_.job_queue().jobs();
  // A prediction stores nothing, so ending it loses nothing.
  return std::all_of(jobs.begin(), jobs.end(), [](const Job* job) { return job->over() || !job->stores(); });
}

void MainWindow::ask_to_close() {
  if (question_)
    return question_->raise();
  const Job* job = workbench_.job_queue().working();
  question_ = new QMessageBox(QMessageBox::NoIcon, tr("Close BatchScope?"),
                              job ? tr("%1 is still running").arg(job->title()) : tr("A job is still queued"),
                              QMessageBox::NoButton, this);
  question_->setObjectName(QStringLiteral("close_question"));
  question_->setAttribute(Qt::WA_DeleteOnClose);
  const int icon = Theme::lines(2);
  question_->setIconPixmap(theme_.icon("warning").pixmap({icon, icon}, devicePixelRatioF()));
  question_->setInformativeText(
      tr("Closing stops it at its next step. The steps of a run stay saved; an unfinished search is lost."));
  QPushButton* stop = question_->addButton(tr("Stop and close"), QMessageBox::AcceptRole);
  QPushButton* stay = question_->addButton(tr("Don’t close"), QMessageBox::RejectRole);
  // Enter keeps what goes on: it may have been pressed for something else.
  stay->setProperty("kind", QStringLiteral("filled"));
  restyle(*stay);
  question_->setDefaultButton(stay);
  question_->setEscapeButton(stay);
  connect(stop, &QPushButton::clicked, this, &MainWindow::close_without_asking);
  // By its button, a key or the frame's close button.
  connect(question_, &QMessageBox::rejected, this, [this] { next_database_.clear(); });
  connect(&workbench_.job_queue(), &JobQueue::idle_now, question_.data(), [this] {
    // The question is settled; opens another database if one was chosen.
    disconnect(question_, &QMessageBox::rejected, this, nullptr);
    question_->close();
    close();
  });
  question_->open();
}

void MainWindow::close_without_asking() {
  if (closing_)
    return;
  closing_ = true;
  workbench_.job_queue().cancel_all();
  // Nothing new can start; the strip at the bottom shows the progress.
  stack_->setEnabled(false);
  for (QAction* action : all_actions())
    action->setEnabled(false);
  if (!care_->idle())
    banner_->show_note(tr("The window closes when the database is copied or merged."));
  else if (workbench_.job_queue().idle())
    banner_->show_note(tr("Exporting. The window closes when the file is written. To stop the export, choose Cancel "
                          "export at the bottom of the window."));
  else
    banner_->show_note(tr("Stopping. The window closes when everything is saved."));
  close_when_idle();
}

void MainWindow::close_when_idle() {
  if (closing_ && may_close_now())
    close();
}

} // namespace batchscope::ui
