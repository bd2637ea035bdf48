#pragma once

#include <QMap>
#include <QStringList>
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

/// Gives each of the runs these tags and takes all others from them.
class TagRuns : public QUndoCommand {
public:
  /// `before`: the tags of each run, in their order.
  TagRuns(RunDatabase& run_database, const std::vector<std::int64_t>& runs, const QList<QStringList>& before,
          const QStringList& tags);
  void redo() override;
  void undo() override;
  bool changes() const { return !added_.isEmpty() || !removed_.isEmpty(); }

private:
  using Runs = std::vector<std::int64_t>;
  RunDatabase& run_database_;
  QMap<QString, Runs> added_, removed_; ///< by tag: the runs that did not have it, or had it
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
