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

TagRuns::TagRuns(RunDatabase& run_database, const std::vector<std::int64_t>& runs, const QList<QStringList>& before,
                 const QStringList& tags)
    : run_database_(run_database) {
  for (std::size_t i = 0; i < runs.size(); ++i) {
    const QStringList& had = before[static_cast<qsizetype>(i)];
    for (const QString& tag : tags)
      if (!had.contains(tag))
        added_[tag].push_back(runs[i]);
    for (const QString& tag : had)
      if (!tags.contains(tag))
        removed_[tag].push_back(runs[i]);
  }
  setText(runs.size() == 1 ? translated(QT_TRANSLATE_NOOP("RunCommands", "tagging run %1")).arg(runs.front())
                           : translated(QT_TRANSLATE_NOOP("RunCommands", "tagging %1 runs")).arg(runs.size()));
}

void TagRuns::redo() {
  for (auto each = added_.begin(); each != added_.end(); ++each)
    run_database_.add_tags(each.value(), {each.key()});
  for (auto each = removed_.begin(); each != removed_.end(); ++each)
    run_database_.remove_tags(each.value(), {each.key()});
}

void TagRuns::undo() {
  for (auto each = added_.begin(); each != added_.end(); ++each)
    run_database_.remove_tags(each.value(), {each.key()});
  for (auto each = removed_.begin(); each != removed_.end(); ++each)
    run_database_.add_tags(each.value(), {each.key()});
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
