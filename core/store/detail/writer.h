#pragma once

#include <atomic>
#include <condition_variable>
#include <filesystem>
#include <functional>
#include <future>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "core/store/detail/commands.h"
#include "core/store/detail/connection.h"
#include "core/store/detail/ownership.h"
#include "core/store/detail/record_writer.h"
#include "core/store/file/detail/database.h"
#include "core/store/file/detail/ledger.h"
#include "core/store/run_store.h"

namespace batchscope::store::detail {

/// Why something was not stored. It crosses threads as a value, because an exception object would be shared by both.
struct Failure {
  Error::Kind kind;
  std::string message;
  bool transient; ///< see TransientError

  [[noreturn]] void raise() const;
};

/// The only thread that writes to a run database. At each wake-up it empties the queues of all runs and stores the
/// entries in one transaction. If that fails, the entries wait, the queues fill, and the next wake-up retries: nothing
/// is lost while the process lives.
class Writer {
public:
  /// Opens the database on the caller's thread, so that a bad file is rejected before anything starts.
  Writer(const std::filesystem::path& file, const StoreOptions& options);
  ~Writer();
  Writer(const Writer&) = delete;
  Writer& operator=(const Writer&) = delete;

  /// Any thread: adds a run and returns its buffer; the training loop may use its queue at once.
  std::shared_ptr<RunBuffer> begin(const NewRun& run);
  /// Any thread: runs `work` in a durable transaction on the writer thread and returns its result.
  std::int64_t change(const std::function<std::int64_t(SQLite::Database&)>& work);
  /// Any thread: writes all waiting entries, between calls of `prepare` and, if that succeeds, `written` on the writer
  /// thread.
  void write_now(
      const std::function<void()>& prepare = [] {}, const std::function<void()>& written = [] {});

  /// Any thread: makes the file as small as what it holds.
  void shrink();

  /// Writer thread, within change(): report added runs, and runs about to be purged, to the ledger.
  void added(const std::string& uid, std::int64_t run, std::int64_t points = 0);
  void purging(const std::vector<std::string>& uids);
  void accept_missing(SQLite::Database& database);
  /// Writer thread, within change(): the row of this store in the table of processes.
  std::int64_t process() const { return process_; }

  RunStore::Backlog backlog() const;
  const std::filesystem::path& file() const { return file_; }

private:
  using Runs = std::vector<std::shared_ptr<RunBuffer>>;

  std::shared_ptr<RunBuffer> begin_new(const NewRun& run);
  std::shared_ptr<RunBuffer> resume(const NewRun& run);
  /// Calls `work` on the writer thread, at once; throws what it throws.
  void call(const std::function<void()>& work);
  /// The connection, with everything that depends on its opening ready.
  Connection::Use ready();
  /// Runs `work` in a transaction; repeats it if the database's files were replaced before the commit.
  void transact(Durability durability, const std::function<void(SQLite::Database&)>& work);
  void append_to_ledger(const Runs& stored);
  void loop();
  void write_waiting();
  void store(const Runs& dirty);
  void hand_out_commands();
  void forget_closed();
  void close() noexcept;
  void tell() noexcept;
  Runs runs() const;

  const std::filesystem::path file_;
  const StoreOptions options_;
  const OpenStore open_; ///< before database_: this store exists until that is closed

  Connection connection_;

  // Used by the writer thread once it runs, during a use of the connection.
  std::int64_t generation_ = 0; ///< of the connection that the following members belong to
  std::int64_t process_ = 0;
  std::optional<Ledger> ledger_;
  std::vector<Ledger::Run> added_; ///< by the current transaction
  std::optional<RecordWriter> records_;
  std::optional<CommandInbox> commands_;
  // Used by the writer thread.
  std::optional<Failure> error_; ///< of the last attempt to write; none if it succeeded

  std::atomic<std::uint64_t> stored_{0};
  std::atomic<std::uint64_t> taken_{0}; ///< taken from the queues, not stored yet

  mutable std::mutex mutex_;
  std::condition_variable wake_;
  std::vector<std::packaged_task<void()>> calls_; ///< guarded by mutex_
  Runs runs_;                                     ///< guarded by mutex_
  std::string trouble_;                           ///< guarded by mutex_; what error_ says
  bool stopping_ = false;                         ///< guarded by mutex_

  std::thread thread_; ///< last: it uses all of the above
};

} // namespace batchscope::store::detail
