#include "core/store/detail/writer.h"

#include <algorithm>
#include <iterator>

#include <fmt/format.h>

#include "core/store/detail/check.h"
#include "core/store/detail/resumed_run.h"
#include "core/store/detail/run_rows.h"

namespace batchscope::store::detail {

namespace {

/// Describes the current exception.
Failure caught() {
  try {
    throw;
  } catch (const TransientError& error) {
    return {error.kind(), error.what(), true};
  } catch (const Error& error) {
    return {error.kind(), error.what(), false};
  } catch (const std::exception& error) {
    return {Error::Kind::failed, fmt::format("cannot be stored: {}", error.what()), false};
  }
}

} // namespace

void Failure::raise() const {
  if (transient)
    throw TransientError(kind, message);
  throw Error(kind, message);
}

Writer::Writer(const std::filesystem::path& file, const StoreOptions& options)
    : file_(file), options_(options),
      connection_(
          file, Connection::Access::write,
          [file, patience = options.patience] { return open_for_writing(file, patience); },
          [this] {
            records_.reset();
            commands_.reset();
          }) {
  guarded(file_, [this] { ready(); });
  thread_ = std::thread([this] { loop(); });
}

Writer::~Writer() {
  {
    const std::lock_guard lock(mutex_);
    stopping_ = true;
  }
  wake_.notify_one();
  thread_.join();
  connection_.close();
}

void Writer::call(const std::function<void()>& work) {
  std::optional<Failure> failure;
  std::packaged_task<void()> task([&] {
    try {
      work();
    } catch (const std::exception&) {
      failure = caught();
    }
  });
  std::future<void> done = task.get_future();
  {
    const std::lock_guard lock(mutex_);
    calls_.push_back(std::move(task));
  }
  wake_.notify_one();
  done.get();
  if (failure)
    failure->raise();
}

Connection::Use Writer::ready() {
  Connection::Use use = connection_.use();
  if (generation_ != connection_.generation() || !records_ || !commands_) {
    SQLite::Database& database = *use;
    process_ = enter_process(database, file_, open_);
    ledger_.emplace(file_, database.execAndGet("SELECT uid FROM identity").getString());
    if (ledger_->exists())
      ledger_->compact();
    else
      ledger_->replace(stored_runs(database));
    SQLite::Transaction transaction(database, SQLite::TransactionBehavior::IMMEDIATE);
    for (const auto& run : runs())
      run->rebind(database, process_);
    transaction.commit();
    records_.emplace(database);
    commands_.emplace(database);
    generation_ = connection_.generation();
  }
  return use;
}

void Writer::transact(Durability durability, const std::function<void(SQLite::Database&)>& work) {
  constexpr int attempts = 3;
  for (int attempt = 0; attempt < attempts; ++attempt) {
    const Connection::Use use = ready();
    set_durability(*use, durability);
    added_.clear();
    SQLite::Transaction transaction(*use, SQLite::TransactionBehavior::IMMEDIATE);
    if (connection_.replaced())
      continue;
    work(*use);
    if (connection_.replaced())
      continue;
    transaction.commit();
    ledger_->stored(added_);
    return;
  }
  throw TransientError(Error::Kind::failed,
                       fmt::format("{}: its files are being replaced by another program", file_.string()));
}

void Writer::added(const std::string& uid, std::int64_t run, std::int64_t points) {
  added_.push_back({uid, run, points});
}

void Writer::shrink() {
  call([this] {
    guarded(file_, [this] {
      const Connection::Use use = ready();
      use->exec("VACUUM");
      use->exec("PRAGMA wal_checkpoint(TRUNCATE)"); // which is as far as readers of the old pages let it go
    });
  });
}

void Writer::purging(const std::vector<std::string>& uids) {
  ledger_->purged(uids);
}

void Writer::accept_missing(SQLite::Database& database) {
  ledger_->replace(stored_runs(database));
}

std::int64_t Writer::change(const std::function<std::int64_t(SQLite::Database&)>& work) {
  std::int64_t answer = 0;
  call([&] {
    guarded(file_, [&] { transact(Durability::status, [&](SQLite::Database& database) { answer = work(database); }); });
  });
  return answer;
}

std::shared_ptr<RunBuffer> Writer::begin(const NewRun& run) {
  std::shared_ptr<RunBuffer> buffer = run.resumed ? resume(run) : begin_new(run);
  buffer->expect_notice(connection_.notice());
  const std::lock_guard lock(mutex_);
  runs_.push_back(buffer);
  return buffer;
}

std::shared_ptr<RunBuffer> Writer::resume(const NewRun& run) {
  std::shared_ptr<RunBuffer> buffer;
  change([&](SQLite::Database& database) {
    buffer = resume_run(database, run, process_, options_.max_waiting);
    purging({buffer->uid}); // the ledger forgets the points that are removed
    added(buffer->uid, buffer->id, buffer->points());
    return buffer->id.load();
  });
  buffer->committed();
  return buffer;
}

std::shared_ptr<RunBuffer> Writer::begin_new(const NewRun& run) {
  std::string uid = new_uid();
  const std::int64_t id = change([&](SQLite::Database& database) {
    if (run.claimed)
      if (const auto claimed = begin_claimed(database, run, process_)) {
        uid = *claimed;
        return *run.claimed;
      }
    const std::int64_t row = insert_run(database, run, uid, process_);
    added(uid, row);
    return row;
  });
  return std::make_shared<RunBuffer>(id, uid, run, options_.max_waiting);
}

void Writer::write_now(const std::function<void()>& prepare, const std::function<void()>& written) {
  call([&] {
    prepare();
    write_waiting();
    // The first call drains no queue if an earlier failure was pending.
    if (!error_)
      write_waiting();
    if (error_)
      error_->raise();
    written();
  });
}

RunStore::Backlog Writer::backlog() const {
  RunStore::Backlog backlog{.stored = stored_.load(), .waiting = taken_.load(), .error = {}};
  const std::lock_guard lock(mutex_);
  for (const auto& run : runs_)
    backlog.waiting += run->queue.waiting();
  backlog.error = trouble_;
  backlog.notice = connection_.notice();
  return backlog;
}

Writer::Runs Writer::runs() const {
  const std::lock_guard lock(mutex_);
  return runs_;
}

void Writer::loop() {
  bool stopping = false;
  while (!stopping) {
    std::vector<std::packaged_task<void()>> calls;
    {
      std::unique_lock lock(mutex_);
      wake_.wait_for(lock, options_.interval, [this] { return stopping_ || !calls_.empty(); });
      calls.swap(calls_);
      stopping = stopping_;
    }
    for (auto& task : calls)
      task();
    write_waiting();
    hand_out_commands();
  }
  close();
}

// Never throws: keeps the error for callers, and the next wake-up retries.
void Writer::write_waiting() {
  try {
    const Runs all = runs();
    // After a failure the queues are not drained, so that entries in memory stay within their limit.
    if (!error_)
      for (const auto& run : all)
        run->drain();
    Runs dirty;
    std::copy_if(all.begin(), all.end(), std::back_inserter(dirty), [](const auto& run) { return run->dirty(); });
    std::uint64_t entries = 0;
    for (const auto& run : dirty)
      entries += run->entries();
    taken_ = entries;
    if (!dirty.empty())
      guarded(file_, [&] { store(dirty); });
    error_.reset();
    stored_ += entries;
    taken_ = 0;
  } catch (const std::exception&) {
    error_ = caught();
    error_->kind = Error::Kind::failed; // of the job, which goes on; only at opening is a locked file bad input
  }
  tell();
  forget_closed();
}

// Never throws: what could not be reported now is reported at the next wake-up.
void Writer::tell() noexcept {
  try {
    const std::string error = error_ ? error_->message : std::string();
    const std::string notice = connection_.notice();
    for (const auto& run : runs())
      run->tell(error, notice);
    const std::lock_guard lock(mutex_);
    trouble_ = error;
  } catch (const std::exception&) {
    // Out of memory; write_waiting() runs into it, too.
  }
}

void Writer::store(const Runs& dirty) {
  const bool urgent = std::any_of(dirty.begin(), dirty.end(), [](const auto& run) { return run->urgent(); });
  transact(urgent ? Durability::status : Durability::metrics, [&](SQLite::Database&) {
    for (const auto& run : dirty)
      records_->write(*run);
  });
  for (const auto& run : dirty)
    run->committed();
  append_to_ledger(dirty);
  // Data committed just when the files were replaced are saved at once, before they are reported as stored.
  ready();
}

// Not after each transaction: at four per second the ledger of a long run would grow fast.
void Writer::append_to_ledger(const Runs& stored) {
  constexpr std::chrono::seconds between{10};
  const auto now = std::chrono::steady_clock::now();
  std::vector<Ledger::Run> lines;
  for (const auto& run : stored)
    if (run->closed() || now - run->in_ledger >= between) {
      lines.push_back({run->uid, run->id, run->points()});
      run->in_ledger = now;
    }
  ledger_->stored(lines);
}

// Never throws: commands that cannot be read now are read at the next wake-up.
void Writer::hand_out_commands() {
  try {
    const Connection::Use use = ready();
    for (const auto& run : runs())
      if (run->takes_commands())
        for (const Command& command : commands_->take(run->id))
          run->on_command(command);
  } catch (const std::exception&) {
    // write_waiting() runs into the same error and reports it.
  }
}

void Writer::forget_closed() {
  const std::lock_guard lock(mutex_);
  std::erase_if(runs_, [](const auto& run) { return run->closed(); });
}

// The last attempt; if it fails, our row in the table of processes stays and shows the unclean exit.
void Writer::close() noexcept {
  if (!error_)
    write_waiting(); // the attempt before may have been the first successful one
  if (error_)
    return;
  try {
    const Connection::Use use = ready();
    leave_process(*use, process_);
    use->exec("PRAGMA optimize");
  } catch (const std::exception&) {
    // Nobody is left to report it to; all records are stored, and the next RunStore removes the row.
  }
}

} // namespace batchscope::store::detail
