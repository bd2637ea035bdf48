#pragma once

#include <QObject>
#include <QString>
#include <QStringList>

#include <filesystem>
#include <functional>
#include <memory>
#include <optional>
#include <vector>

#include "core/predict/peak_curve.h"
#include "core/run/run_spec.h"
#include "core/run/session.h"
#include "core/search/finder.h"
#include "core/store/run_store.h"
#include "core/telemetry/record.h"

namespace batchscope::ui {

/// What is known of a stored run beside its records.
struct StoredRun {
  store::RunRow row;
  run::RunSpec spec;
  std::optional<run::RunStart> start;
};

/// A search as the database has it.
struct StoredSearch {
  std::int64_t id = 0;
  QString created; ///< UTC, ISO 8601
  run::RunSpec spec;
  std::string trials; ///< run::trial_key() of the spec
  std::shared_ptr<const search::SearchResult> result;
};

/// The run database for the window: a thread of its own reads and writes, so that the UI never waits for a disk.
/// Answers come as signals. UI thread.
class RunDatabase : public QObject {
  Q_OBJECT

public:
  explicit RunDatabase(std::filesystem::path database, QObject* parent = nullptr);
  ~RunDatabase() override;

  const std::filesystem::path& database() const { return database_; }
  /// The rows as last read, newest last. Only those that changed are read again.
  const std::vector<store::RunRow>& runs() const { return runs_; }
  bool loaded() const { return loaded_; }
  /// The last few hundred searches that are stored, newest last. One that cannot be understood is left out.
  const std::vector<std::shared_ptr<const StoredSearch>>& searches() const { return searches_; }
  /// Why nothing can be written into the database: no run, no name, no command to a run. Empty where it can.
  const QString& read_only() const { return read_only_; }

  /// Looks at the database again soon; it does so by itself about twice a second.
  void refresh();

  // Changes; each is said as runs_changed() once it is stored, or as problem().
  void rename(std::int64_t run, const QString& name);
  void set_note(std::int64_t run, const QString& note);
  void set_deleted(const std::vector<std::int64_t>& runs, bool deleted);
  /// For a run of another process. `refused` comes after problem() where it could not be sent.
  void send(std::int64_t run, const store::Command& command, QObject* context = nullptr,
            std::function<void()> refused = {});
  /// Writes runs to a file in one of store::export_formats(), the changes asked for earlier included; `done` comes with
  /// an error, or an empty text. Everything else goes on meanwhile.
  void export_runs(const std::vector<std::int64_t>& runs, const QString& format, const QString& file, QObject* context,
                   std::function<void(const QString& error)> done);
  /// Files that are being written, or wait to be, in their order.
  QStringList exports() const;
  /// Gives them up; each `done` comes with an error soon, and nothing is left of the files.
  void cancel_exports();

  /// Reads a run from its beginning and goes on while it is written; batches arrive in order in the UI thread until the
  /// returned token is dropped (in the UI thread) or the run has ended.
  struct Batch {
    std::vector<telemetry::StepRecord> records;
    std::vector<telemetry::Event> events;
    store::RunRow row;
    bool complete = false; ///< everything stored so far is in
    QString error;         ///< the run cannot be read; nothing more comes
  };
  using Token = std::shared_ptr<void>;
  Token follow(std::int64_t run, std::function<void(Batch&&)> take);
  /// Spec and start of a run, once.
  void describe(std::int64_t run, QObject* context, std::function<void(const StoredRun&, const QString& error)> take);

Q_SIGNALS:
  /// runs() is what it says now.
  void runs_changed(const batchscope::store::ListChanges& changes);
  void read_only_changed();
  /// exports() is another.
  void exports_changed();
  void searches_changed();
  /// What went wrong, with what to do; empty when all is well again.
  void problem(const QString& text);

private:
  class Impl;

  struct Export;

  void take(store::ListChanges&& changes);

  std::filesystem::path database_;
  std::vector<store::RunRow> runs_;
  bool loaded_ = false;
  std::vector<std::shared_ptr<const StoredSearch>> searches_;
  QString read_only_;
  std::vector<std::shared_ptr<Export>> exports_;
  std::unique_ptr<Impl> impl_;
};

} // namespace batchscope::ui
