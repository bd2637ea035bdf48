#pragma once

#include <QString>
#include <QUndoCommand>

#include <cstdint>
#include <vector>

namespace batchscope::ui {

class RunDatabase;

/// Undoable changes of stored runs. The RunDatabase must outlive the undo stack that holds them.
class RenameRun : public QUndoCommand {
public:
  RenameRun(RunDatabase& run_database, std::int64_t run, QString before, QString name);
  void redo() override;
  void undo() override;

private:
  RunDatabase& run_database_;
  std::int64_t run_;
  QString before_;
  QString name_;
};

class AnnotateRun : public QUndoCommand {
public:
  AnnotateRun(RunDatabase& run_database, std::int64_t run, QString before, QString note);
  void redo() override;
  void undo() override;

private:
  RunDatabase& run_database_;
  std::int64_t run_;
  QString before_;
  QString note_;
};

class DeleteRuns : public QUndoCommand {
public:
  DeleteRuns(RunDatabase& run_database, std::vector<std::int64_t> runs);
  void redo() override;
  void undo() override;

private:
  RunDatabase& run_database_;
  std::vector<std::int64_t> runs_;
};

} // namespace batchscope::ui
