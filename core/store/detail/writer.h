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
#include "core/store/detail/database.h"
#include "core/store/detail/ledger.h"
#include "core/store/detail/ownership.h"
#include "core/store/detail/record_writer.h"
#include "core/store/run_store.h"

namespace batchscope::store::detail {

/// Why something was not stored. It crosses threads as a value: an exception object would be shared by both.
struct Failure {
  Error::Kind kind;
  std::string message;
  bool passing; ///< see TransientError

  [[noreturn]] void raise() const;
};

/// The one thread that writes to a run database. At every wake-up it empties the queues of all runs and stores what
/// came out in one transaction. Where that fails, what came out waits, the queues fill, and it is tried again at the
/// next wake-up: nothing is lost while the process lives.
class Writer {
public:
  /// Opens the database on the caller's thread, so that a bad file is refused before anything starts.
  Writer(const std::filesystem::path& file, const StoreOptions& options);
  ~Writer();
  Writer(const Writer&) = delete;
  Writer& operator=(const Writer&) = delete;

  /// Any thread: adds a run and returns its buffer, whose queue the loop may use at once.
  std::shared_ptr<RunBuffer> begin(const NewRun& run);
  /// Any thread: runs `work` in a durable transaction on the writing thread and waits for its answer.
  std::int64_t change(const std::function<std::int64_t(SQLite::Database&)>& work);
  /// Any thread: writes what waits, after `prepare` was called on the writing thread.
  void write_now(const std::function<void()>& prepare = [] {});

  /// The writing thread's, within change(): what was added or is about to go, which the ledger is told of.
  void added(const std::string& uid, std::int64_t run);
  void purging(const std::vector<std::string>& uids);
  void accept_missing(SQLite::Database& database);

  RunStore::Load load() const;

private:
  using Runs = std::vector<std::shared_ptr<RunBuffer>>;

  /// Has the writing thread call `work` at once; throws what it throws.
  void call(const std::function<void()>& work);
  /// The connection, with all that depends on the opening of it ready.
  Connection::Use ready();
  /// Runs `work` in a transaction, once more where the database's files were replaced before it was committed.
  void transact(Durability durability, const std::function<void(SQLite::Database&)>& work);
  void tell_ledger(const Runs& stored);
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
  const OpenStore open_; ///< before database_: until that is closed, this store is not gone

  Connection connection_;

  // The writing thread's, once it runs, within a use of the connection.
  std::int64_t generation_ = 0; ///< of the connection that the following belong to
  std::int64_t process_ = 0;
  std::optional<Ledger> ledger_;
  std::vector<Ledger::Run> added_; ///< by the transaction in progress
  std::optional<RecordWriter> records_;
  std::optional<CommandInbox> commands_;
  // The writing thread's.
  std::optional<Failure> error_; ///< of the last attempt to write; none when it succeeded

  std::atomic<std::uint64_t> stored_{0};
  std::atomic<std::uint64_t> taken_{0}; ///< out of the queues, not stored yet

  mutable std::mutex mutex_;
  std::condition_variable wake_;
  std::vector<std::packaged_task<void()>> calls_; ///< guarded by mutex_
  Runs runs_;                                     ///< guarded by mutex_
  std::string trouble_;                           ///< guarded by mutex_; what error_ says
  bool stopping_ = false;                         ///< guarded by mutex_

  std::thread thread_; ///< last: it uses all of the above
};

} // namespace batchscope::store::detail
