#pragma once

#include <QObject>
#include <QString>
#include <QStringList>

#include <filesystem>
#include <functional>
#include <memory>
#include <optional>
#include <vector>

#include "core/store/run_reader.h"
#include "core/store/run_store.h"
#include "core/sweep/extend.h"
#include "ui/database/followed_imports.h"
#include "ui/database/run_imports.h"
#include "ui/database/stored.h"

namespace batchscope::ui {

/// The run database for the window. A thread of its own reads and writes, so the UI never waits for a disk; results
/// come as signals. UI thread.
class RunDatabase : public QObject {
  Q_OBJECT

public:
  explicit RunDatabase(std::filesystem::path database, QObject* parent = nullptr);
  ~RunDatabase() override;

  const std::filesystem::path& database() const { return database_; }
  /// The rows as last read, newest last. Only changed rows are read again.
  const std::vector<store::RunRow>& runs() const { return runs_; }
  bool loaded() const { return loaded_; }
  /// The last few hundred stored searches, newest last. Searches that cannot be read are left out.
  const std::vector<std::shared_ptr<const StoredSearch>>& searches() const { return searches_; }
  /// The saved views, in the order of their names.
  const std::vector<store::SavedView>& views() const { return views_; }
  /// Why the database is read-only: no runs, renames or commands are possible. Empty if it is writable.
  const QString& read_only() const { return read_only_; }

  /// Reads changes soon; this also happens automatically about twice a second.
  void refresh();

  // Changes; each is followed by runs_changed() once it is stored, or by problem().
  void rename(std::int64_t run, const QString& name);
  void set_note(std::int64_t run, const QString& note);
  void add_tags(const std::vector<std::int64_t>& runs, const QStringList& tags);
  void remove_tags(const std::vector<std::int64_t>& runs, const QStringList& tags);
  void set_deleted(const std::vector<std::int64_t>& runs, bool deleted);
  /// Reads the runs that are marked as deleted, oldest first. Else there is a problem().
  void read_deleted(QObject* context, std::function<void(const std::vector<store::RunRow>& runs)> take);
  /// Removes all runs that are marked as deleted for good; `done` gets their number. Else there is a problem().
  void purge_deleted(QObject* context, std::function<void(std::int64_t runs)> done);
  /// As RunStore::save_view() and RunStore::delete_view(); followed by views_changed() once stored, or by problem().
  void save_view(const QString& name, const QString& content_json);
  void delete_view(const QString& name);
  /// For runs of a sweep that wait: end them without making them; move one directly before another, or to the end.
  /// Runs that no longer wait stay as they are.
  void skip_waiting(std::int64_t sweep, const std::vector<std::int64_t>& runs);
  void move_waiting(std::int64_t sweep, std::int64_t run, std::optional<std::int64_t> before);
  /// Adds combinations to a sweep, whose runs then wait. `done` is called once they do; else there is a problem().
  void extend_sweep(std::int64_t sweep, const sweep::Extension& extension, QObject* context,
                    std::function<void()> done);
  /// For a run of another process. `refused` is called after problem() if the command could not be sent.
  void send(std::int64_t run, const store::Command& command, QObject* context = nullptr,
            std::function<void()> refused = {});
  /// Exports runs to a file in one of exchange::export_formats(), after all earlier changes. Calls `done` with an
  /// error, or an empty text. Does not delay anything else.
  void export_runs(const std::vector<std::int64_t>& runs, const QString& format, const QString& file, QObject* context,
                   std::function<void(const QString& error)> done);
  /// The files being written or queued, in order.
  QStringList exports() const;
  /// Cancels the exports; each `done` is called with an error soon, and no file is left.
  void cancel_exports();

  RunImports& imports() { return *imports_; }
  FollowedImports& followed_imports() { return *followed_imports_; }

  /// Reads a run from its beginning and continues while it is written. Batches arrive in order on the UI thread until
  /// the returned token is released (on the UI thread) or the run has ended.
  using Token = std::shared_ptr<void>;
  Token follow(std::int64_t run, std::function<void(RunBatch&&)> take);
  /// Reads spec and start of a run once.
  void describe(std::int64_t run, QObject* context, std::function<void(const StoredRun&, const QString& error)> take);

Q_SIGNALS:
  /// runs() has changed.
  void runs_changed(const batchscope::store::ListChanges& changes);
  void read_only_changed();
  /// exports() has changed.
  void exports_changed();
  void searches_changed();
  /// views() has changed.
  void views_changed();
  /// A problem and its remedy, for the user; empty once it is resolved.
  void problem(const QString& text);
  /// The same: the database is damaged, and what is whole in it can be saved (DatabaseCare::repair_copy()).
  void damaged(const QString& text);

private:
  class Impl;

  struct Export;

  void take(store::ListChanges&& changes);

  std::filesystem::path database_;
  std::vector<store::RunRow> runs_;
  bool loaded_ = false;
  std::vector<std::shared_ptr<const StoredSearch>> searches_;
  std::vector<store::SavedView> views_;
  QString read_only_;
  std::vector<std::shared_ptr<Export>> exports_;
  std::unique_ptr<Impl> impl_;
  std::unique_ptr<RunImports> imports_; ///< last: these use impl_
  std::unique_ptr<FollowedImports> followed_imports_;
};

} // namespace batchscope::ui
