#include "core/store/detail/writer.h"

#include <algorithm>
#include <iterator>

#include <fmt/format.h>

#include "core/store/detail/run_rows.h"

namespace batchscope::store::detail {

namespace {

/// The exception that is being handled.
Failure caught() {
  try {
    throw;
  } catch (const PassingError& error) {
    return {error.kind(), error.what(), true};
  } catch (const Error& error) {
    return {error.kind(), error.what(), false};
  } catch (const std::exception& error) {
    return {Error::Kind::failed, fmt::format("cannot be stored: {}", error.what()), false};
  }
}

} // namespace

void Failure::raise() const {
  if (passing)
    throw PassingError(kind, message);
  throw Error(kind, message);
}

Writer::Writer(const std::filesystem::path& file, const StoreOptions& options)
    : file_(file), options_(options), database_(open_for_writing(file, options.patience)) {
  guarded(file_, [this] {
    process_ = enter_process(database_, file_, open_);
    records_.emplace(database_);
    commands_.emplace(database_);
  });
  thread_ = std::thread([this] { loop(); });
}

Writer::~Writer() {
  {
    const std::lock_guard lock(mutex_);
    stopping_ = true;
  }
  wake_.notify_one();
  thread_.join();
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

std::int64_t Writer::change(const std::function<std::int64_t(SQLite::Database&)>& work) {
  std::int64_t answer = 0;
  call([&] {
    answer = guarded(file_, [&] {
      set_durability(database_, Durability::status);
      SQLite::Transaction transaction(database_, SQLite::TransactionBehavior::IMMEDIATE);
      const std::int64_t result = work(database_);
      transaction.commit();
      return result;
    });
  });
  return answer;
}

std::shared_ptr<RunBuffer> Writer::begin(const NewRun& run) {
  const std::int64_t id = change([&](SQLite::Database& database) { return insert_run(database, run, process_); });
  auto buffer = std::make_shared<RunBuffer>(id, run, options_.standstill);
  const std::lock_guard lock(mutex_);
  runs_.push_back(buffer);
  return buffer;
}

void Writer::write_now(const std::function<void()>& prepare) {
  call([&] {
    prepare();
    write_waiting();
    // What waited for an earlier failure to pass kept the queues as they were.
    if (!error_)
      write_waiting();
    if (error_)
      error_->raise();
  });
}

RunStore::Load Writer::load() const {
  RunStore::Load load{.stored = stored_.load(), .waiting = taken_.load(), .error = {}};
  const std::lock_guard lock(mutex_);
  for (const auto& run : runs_)
    load.waiting += run->queue.waiting();
  load.error = trouble_;
  return load;
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

// Never throws: what went wrong is kept for those who ask, and the next wake-up tries again.
void Writer::write_waiting() {
  try {
    const Runs all = runs();
    // After a failure the queues are left alone, so that what waits in memory stays within their bound.
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
    forget_closed();
  } catch (const std::exception&) {
    error_ = caught();
    error_->kind = Error::Kind::failed; // of the job, which goes on; a file that is locked at its start is bad input
  }
  tell();
}

// Never throws: what could not be told now is at the next wake-up.
void Writer::tell() noexcept {
  try {
    const std::string error = error_ ? error_->message : std::string();
    for (const auto& run : runs())
      run->tell(error);
    const std::lock_guard lock(mutex_);
    trouble_ = error;
  } catch (const std::exception&) {
    // No memory, which write_waiting() meets, too.
  }
}

void Writer::store(const Runs& dirty) {
  const bool urgent = std::any_of(dirty.begin(), dirty.end(), [](const auto& run) { return run->urgent(); });
  set_durability(database_, urgent ? Durability::status : Durability::metrics);
  SQLite::Transaction transaction(database_, SQLite::TransactionBehavior::IMMEDIATE);
  for (const auto& run : dirty)
    records_->write(*run);
  transaction.commit();
  for (const auto& run : dirty)
    run->committed();
}

// Never throws: what the database does not give now is there at the next wake-up.
void Writer::hand_out_commands() {
  try {
    for (const auto& run : runs())
      if (run->obeys())
        for (const Command& command : commands_->take(run->id))
          run->on_command(command);
  } catch (const std::exception&) {
    // A disk that refuses is said by write_waiting(), which meets it, too.
  }
}

void Writer::forget_closed() {
  const std::lock_guard lock(mutex_);
  std::erase_if(runs_, [](const auto& run) { return run->closed(); });
}

// The last attempt; where even that fails, our entry among the processes stays and tells of it once we are gone.
void Writer::close() noexcept {
  if (!error_)
    write_waiting(); // the attempt before may have been the first that succeeded again
  records_.reset();
  commands_.reset();
  if (error_)
    return;
  try {
    leave_process(database_, process_);
    database_.exec("PRAGMA optimize");
  } catch (const SQLite::Exception&) {
    // Nobody is left to tell; every record is stored, and the next RunStore removes the entry.
  }
}

} // namespace batchscope::store::detail
