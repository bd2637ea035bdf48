#pragma once

#include <QString>

#include <atomic>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "core/store/run_reader.h"
#include "ui/database/file_identity.h"
#include "ui/database/stored.h"
#include "ui/threads/worker_thread.h"

namespace batchscope::ui {

/// Reads what has changed in the list of runs and searches, and reports it. The database's thread.
class ListWatch {
public:
  /// Receives what was read, on the database's thread.
  class Listener {
  public:
    virtual ~Listener() = default;
    virtual void list_changed(store::ListChanges changes) = 0;
    virtual void searches_read(std::vector<std::shared_ptr<const StoredSearch>> searches) = 0; ///< in addition
    virtual void views_read(std::vector<store::SavedView> views) = 0; ///< all, when they differ from those before
    virtual void searches_forgotten() = 0;                            ///< all; the next ones are from another file
    virtual void problem(const QString& text) = 0;                    ///< any thread
    virtual void damaged(const QString& text) = 0;                    ///< any thread; what is whole can be saved
    virtual void read_only(const QString& why) = 0;                   ///< empty: writable
  };

  ListWatch(std::filesystem::path file, Listener& listener) : file_(std::move(file)), listener_(listener) {}
  ~ListWatch() { closing_ = true; }

  /// Reads the list of runs if the database has changed.
  void look();
  QString gone() const; ///< message shown if the file no longer exists

private:
  void look_at_nothing(bool missing);
  void open();
  void check_soon();
  void say_damage(const std::vector<std::string>& lines);
  void say_replaced(const std::string& notice);
  std::unique_ptr<store::RunReader> read_or_bring_up_to_date() const;
  bool same_file() const { return file_identity(file_) == opened_; }
  void show_searches(const std::vector<store::StoredSearch>& rows);
  void forget_searches();
  void show_views(std::vector<store::SavedView> views);
  void tell(const QString& problem, bool damage = false);
  void tell_read_only();

  const std::filesystem::path file_;
  Listener& listener_;
  std::unique_ptr<store::RunReader> reader_;
  store::ListCursor cursor_;   ///< how far the list has been read
  bool shows_nothing_ = false; ///< shows an empty list, since there is no database yet
  FileIdentity opened_;
  std::optional<std::int64_t> version_; ///< of the database when its searches were read; nothing: not read yet
  std::int64_t last_search_ = 0;        ///< number of the newest search read
  std::vector<store::SavedView> views_; ///< the last that were reported
  bool had_database_ = false;
  std::optional<FileIdentity> checked_; ///< the file that was looked at for damage last
  bool unchecked_ = false;              ///< opened, and not looked for damage yet; it may take long
  std::string notice_;                  ///< the last reported notice
  QString reported_;
  QString read_only_;
  std::atomic<bool> closing_{false};
  WorkerThread checks_; ///< last: it uses what is above
};

} // namespace batchscope::ui
