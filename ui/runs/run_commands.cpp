#include "ui/runs/run_commands.h"

#include <QCoreApplication>

#include "ui/database/run_database.h"

namespace batchscope::ui {

namespace {

QString translated(const char* text, int count = -1) {
  return QCoreApplication::translate("RunCommands", text, nullptr, count);
}

} // namespace

RenameRun::RenameRun(RunDatabase& run_database, std::int64_t run, QString before, QString name)
    : run_database_(run_database), run_(run), before_(std::move(before)), name_(std::move(name)) {
  setText(translated(QT_TRANSLATE_NOOP("RunCommands", "renaming run %1")).arg(run));
}

void RenameRun::redo() {
  run_database_.rename(run_, name_);
}

void RenameRun::undo() {
  run_database_.rename(run_, before_);
}

AnnotateRun::AnnotateRun(RunDatabase& run_database, std::int64_t run, QString before, QString note)
    : run_database_(run_database), run_(run), before_(std::move(before)), note_(std::move(note)) {
  setText(translated(QT_TRANSLATE_NOOP("RunCommands", "editing the note on run %1")).arg(run));
}

void AnnotateRun::redo() {
  run_database_.set_note(run_, note_);
}

void AnnotateRun::undo() {
  run_database_.set_note(run_, before_);
}

DeleteRuns::DeleteRuns(RunDatabase& run_database, std::vector<std::int64_t> runs)
    : run_database_(run_database), runs_(std::move(runs)) {
  setText(runs_.size() == 1 ? translated(QT_TRANSLATE_NOOP("RunCommands", "deleting run %1")).arg(runs_.front())
                            : translated(QT_TRANSLATE_NOOP("RunCommands", "deleting %1 runs")).arg(runs_.size()));
}

void DeleteRuns::redo() {
  run_database_.set_deleted(runs_, true);
}

void DeleteRuns::undo() {
  run_database_.set_deleted(runs_, false);
}

} // namespace batchscope::ui
