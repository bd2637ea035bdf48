#include "ui/database/run_database.h"

#include <QPointer>
#include <QThreadPool>

#include <sys/stat.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <condition_variable>
#include <deque>
#include <mutex>
#include <thread>
#include <utility>

#include "core/base/error.h"
#include "core/run/spec_keys.h"
#include "core/search/drive.h"
#include "core/store/export.h"
#include "core/store/run_follower.h"

namespace batchscope::ui {

namespace {

/// Interval of reading the list of runs and the followed runs.
constexpr std::chrono::milliseconds interval{400};
constexpr std::int64_t most_searches = 300;
constexpr std::size_t records_a_batch = 4096; // a few ms of the UI thread's time

} // namespace

/// A file being written. Shared by the UI thread and the exporting thread.
struct RunDatabase::Export {
  QString file; ///< constant
  std::atomic<bool> cancelled{false};
};

/// The database's thread: performs changes and requests in order, then reads the list of runs, then the followed runs.
/// Exports take long and do not depend on these, so they have a thread of their own.
class RunDatabase::Impl {
public:
  explicit Impl(RunDatabase& run_database)
      : run_database_(run_database), file_(run_database.database_), thread_([this] { loop(); }) {
    exports_.setMaxThreadCount(1);
  }

  ~Impl() {
    {
      const std::lock_guard lock(mutex_);
      closing_ = true;
    }
    wake_.notify_one();
    thread_.join();
  }

  /// UI thread: queues `task` for the database's thread.
  void ask(std::function<void()> task) {
    {
      const std::lock_guard lock(mutex_);
      tasks_.push_back(std::move(task));
    }
    wake_.notify_one();
  }

  void look_soon() {
    ask([] {});
  }

  Token follow(std::int64_t run, std::function<void(Batch&&)> take) {
    auto follower = std::make_shared<Follower>(Follower{std::move(take)});
    ask([this, run, weak = std::weak_ptr(follower)] { followed_.push_back({run, weak}); });
    return follower;
  }

  // --- the database's thread ---

  /// Performs a change and reports an error; returns false if there was one.
  bool change(const std::function<void(store::RunStore&)>& work) {
    bool made = false;
    try {
      // Opening a database for writing would create a missing one, which has none of the runs.
      if (!std::filesystem::exists(file_))
        throw Error(Error::Kind::input, gone().toStdString());
      store::RunStore store(file_);
      work(store);
      made = true;
    } catch (const std::exception& error) {
      // Reported every time, and not cleared by the next successful read of the list.
      post([this, what = QString::fromUtf8(error.what())] { Q_EMIT run_database_.problem(what); });
    }
    return made;
  }

  void export_soon(std::function<void()> work) { exports_.start(std::move(work)); }

  // --- any thread ---

  /// Runs `function` on the UI thread, while the RunDatabase lives.
  void post(std::function<void()> function) {
    QMetaObject::invokeMethod(&run_database_, std::move(function), Qt::QueuedConnection);
  }

  const std::filesystem::path& file() const { return file_; }

private:
  /// Device and inode, which identify a file under any name; zeros for no file.
  using Identity = std::pair<dev_t, ino_t>;

  /// A follower of a run; the token points to it. Released on the UI thread only, so that nothing is called after that.
  struct Follower {
    std::function<void(Batch&&)> take;
  };
  struct Followed {
    std::int64_t run = 0;
    std::weak_ptr<Follower> follower;
    /// A batch is being delivered; the next one waits for it.
    std::shared_ptr<std::atomic<bool>> busy = std::make_shared<std::atomic<bool>>(false);
    std::unique_ptr<store::RunFollower> reader = nullptr;
    Identity file{}; ///< the file that the reader has open
  };

  void loop() {
    while (true) {
      std::deque<std::function<void()>> tasks;
      {
        std::unique_lock lock(mutex_);
        wake_.wait_for(lock, more_ ? std::chrono::milliseconds(1) : interval,
                       [this] { return closing_ || !tasks_.empty(); });
        if (closing_ && tasks_.empty())
          return;
        tasks.swap(tasks_);
      }
      for (auto& task : tasks)
        task();
      look();
      read_on();
    }
  }

  /// Reads the list of runs if the database has changed.
  void look() {
    try {
      tell_read_only();
      if (!std::filesystem::exists(file_))
        return look_at_nothing(had_database_);
      if (std::filesystem::file_size(file_) == 0)
        return look_at_nothing(false);
      if (!reader_ || !same_file())
        open();
      say_replaced(reader_->notice());
      const std::int64_t version = reader_->version();
      store::ListChanges changes = reader_->changes(cursor_);
      if (!changes.empty())
        show(std::move(changes));
      if (version_ != version)
        show_searches(reader_->searches(last_search_, most_searches));
      version_ = version;
      shows_nothing_ = false;
      tell({});
    } catch (const std::exception& error) {
      reader_.reset();
      tell(QString::fromUtf8(error.what()));
    }
  }

  /// There is no database yet, or an empty file that will become one: no runs, and none are missing.
  void look_at_nothing(bool missing) {
    reader_.reset();
    if (!missing && !std::exchange(shows_nothing_, true)) {
      store::ListChanges none;
      none.all = true;
      show(std::move(none));
      forget_searches();
    }
    tell(missing ? gone() : QString());
  }

  QString gone() const {
    return RunDatabase::tr(
               "%1 is gone; the table shows the runs read earlier. Restore the file or open another database.")
        .arg(QString::fromStdString(file_.string()));
  }

  void open() {
    cursor_ = {};
    version_.reset();
    forget_searches();
    reader_ = read_or_bring_up_to_date();
    opened_ = identity();
    had_database_ = true;
    say_damage(reader_->quick_check());
  }

  void say_damage(const std::vector<std::string>& lines) {
    if (lines.empty())
      return;
    QString text = QString::fromStdString(lines.front());
    if (lines.size() > 1)
      text += RunDatabase::tr("; %n more, run `batchscope-cli check` to list all", nullptr,
                              static_cast<int>(lines.size()) - 1);
    post([this, text] { Q_EMIT run_database_.problem(text); });
  }

  /// Reports each replacement of the database's files once.
  void say_replaced(const std::string& notice) {
    if (notice == notice_)
      return;
    notice_ = notice;
    post([this, text = QString::fromStdString(notice)] { Q_EMIT run_database_.problem(text); });
  }

  /// Migrates a database of an older format, with a backup beside it, before reading it.
  std::unique_ptr<store::RunReader> read_or_bring_up_to_date() const {
    try {
      return std::make_unique<store::RunReader>(file_);
    } catch (const Error&) {
      store::check_usable(file_); // reports the error of any other file
      const store::RunStore migrated(file_);
      return std::make_unique<store::RunReader>(file_);
    }
  }

  /// After a database was deleted and created again, our connection has a file that nobody else sees.
  bool same_file() const { return identity() == opened_; }

  Identity identity() const {
    struct stat status {};
    ::stat(file_.c_str(), &status);
    return {status.st_dev, status.st_ino};
  }

  void show(store::ListChanges changes) {
    auto shared = std::make_shared<store::ListChanges>(std::move(changes));
    post([this, shared] { run_database_.take(std::move(*shared)); });
  }

  /// Adds the searches stored since the last read.
  void show_searches(const std::vector<store::StoredSearch>& rows) {
    std::vector<std::shared_ptr<const StoredSearch>> searches;
    for (const store::StoredSearch& row : rows) {
      last_search_ = row.id;
      try {
        auto search = std::make_shared<StoredSearch>();
        search->id = row.id;
        search->created = QString::fromStdString(row.created);
        search->spec = run::run_spec_from_json(row.spec_json);
        search->trials = run::trial_key(search->spec);
        search->result = std::make_shared<search::SearchResult>(search::search_result_from_json(row.result_json));
        searches.push_back(std::move(search));
      } catch (const Error&) {
        // From a newer version, or damaged.
      }
    }
    if (searches.empty())
      return;
    post([this, searches = std::move(searches)] {
      run_database_.searches_.insert(run_database_.searches_.end(), searches.begin(), searches.end());
      Q_EMIT run_database_.searches_changed();
    });
  }

  /// The next read is from another file.
  void forget_searches() {
    if (std::exchange(last_search_, 0) == 0)
      return;
    post([this] {
      run_database_.searches_.clear();
      Q_EMIT run_database_.searches_changed();
    });
  }

  /// Reports a problem once, and once that it is over.
  void tell(const QString& problem) {
    if (problem == told_)
      return;
    told_ = problem;
    post([this, problem] { Q_EMIT run_database_.problem(problem); });
  }

  /// Checked every time: permissions change.
  void tell_read_only() {
    const QString why = QString::fromStdString(store::why_read_only(file_));
    if (why == read_only_)
      return;
    read_only_ = why;
    post([this, why] {
      run_database_.read_only_ = why;
      Q_EMIT run_database_.read_only_changed();
    });
  }

  void read_on() {
    more_ = false;
    std::erase_if(followed_, [](const Followed& followed) { return followed.follower.expired(); });
    for (auto& followed : followed_)
      read_on(followed);
  }

  void read_on(Followed& followed) {
    if (*followed.busy) {
      more_ = true;
      return;
    }
    Batch batch;
    bool over = false;
    try {
      begin_reading(followed);
      auto update = followed.reader->poll(records_a_batch);
      batch.records = std::move(update.records);
      batch.events = std::move(update.events);
      batch.row = std::move(update.row);
      batch.complete = !update.more;
      more_ = more_ || update.more;
      over = batch.complete && batch.row.outcome.status != telemetry::RunStatus::running;
    } catch (const std::exception& error) {
      batch.error = QString::fromUtf8(error.what());
      over = true;
    }
    *followed.busy = true;
    auto shared = std::make_shared<Batch>(std::move(batch));
    post([weak = followed.follower, busy = followed.busy, shared] {
      // Without the token nobody wants it any more.
      if (const auto wanted = weak.lock())
        wanted->take(std::move(*shared));
      *busy = false;
    });
    if (over)
      followed.follower.reset();
  }

  void begin_reading(Followed& followed) const {
    const Identity now = identity();
    if (!followed.reader) {
      followed.reader = std::make_unique<store::RunFollower>(file_, followed.run);
      followed.file = now;
    } else if (now != followed.file && now != Identity{}) {
      // The open file has no name any more, and nobody writes to it.
      throw Error(Error::Kind::input,
                  RunDatabase::tr("%1 was replaced by another file while the run was being read; open the run again")
                      .arg(QString::fromStdString(file_.string()))
                      .toStdString());
    }
  }

  RunDatabase& run_database_;
  const std::filesystem::path file_;

  // Used by the database's thread only.
  std::unique_ptr<store::RunReader> reader_;
  store::ListCursor cursor_;   ///< how far the list has been read
  bool shows_nothing_ = false; ///< shows an empty list, since there is no database yet
  Identity opened_;
  std::optional<std::int64_t> version_; ///< of the database when its searches were read; nothing: not read yet
  std::int64_t last_search_ = 0;        ///< number of the newest search read
  bool had_database_ = false;
  std::string notice_; ///< the last reported notice
  QString told_;
  QString read_only_;
  std::vector<Followed> followed_;
  bool more_ = false; ///< more data can be read at once

  std::mutex mutex_;
  std::condition_variable wake_;
  std::deque<std::function<void()>> tasks_; ///< guarded by mutex_
  bool closing_ = false;                    ///< guarded by mutex_

  QThreadPool exports_;
  std::thread thread_; ///< last: it uses all of the above
};

RunDatabase::RunDatabase(std::filesystem::path database, QObject* parent)
    : QObject(parent), database_(std::move(database)), impl_(std::make_unique<Impl>(*this)) {}

RunDatabase::~RunDatabase() {
  cancel_exports();
}

void RunDatabase::take(store::ListChanges&& changes) {
  const auto by_id = [](const store::RunRow& row, std::int64_t id) { return row.id < id; };
  loaded_ = true;
  if (changes.all)
    runs_ = changes.rows;
  else
    for (const store::RunRow& row : changes.rows) {
      const auto at = std::lower_bound(runs_.begin(), runs_.end(), row.id, by_id);
      if (at != runs_.end() && at->id == row.id)
        *at = row;
      else
        runs_.insert(at, row);
    }
  if (!changes.removed.empty())
    std::erase_if(runs_, [&](const store::RunRow& row) {
      return std::binary_search(changes.removed.begin(), changes.removed.end(), row.id);
    });
  Q_EMIT runs_changed(changes);
}

void RunDatabase::refresh() {
  impl_->look_soon();
}

void RunDatabase::rename(std::int64_t run, const QString& name) {
  impl_->ask([impl = impl_.get(), run, name = name.toStdString()] {
    impl->change([&](store::RunStore& store) { store.rename(run, name); });
  });
}

void RunDatabase::set_note(std::int64_t run, const QString& note) {
  impl_->ask([impl = impl_.get(), run, note = note.toStdString()] {
    impl->change([&](store::RunStore& store) { store.set_note(run, note); });
  });
}

void RunDatabase::set_deleted(const std::vector<std::int64_t>& runs, bool deleted) {
  impl_->ask([impl = impl_.get(), runs, deleted] {
    impl->change([&](store::RunStore& store) { store.set_deleted(runs, deleted); });
  });
}

void RunDatabase::send(std::int64_t run, const store::Command& command, QObject* context,
                       std::function<void()> refused) {
  impl_->ask([impl = impl_.get(), run, command, context = QPointer(context), refused = std::move(refused)] {
    if (impl->change([&](store::RunStore& store) { store.send(run, command); }) || !refused)
      return;
    impl->post([context, refused] {
      if (context)
        refused();
    });
  });
}

void RunDatabase::export_runs(const std::vector<std::int64_t>& runs, const QString& format, const QString& file,
                              QObject* context, std::function<void(const QString& error)> done) {
  const auto own = std::make_shared<Export>();
  own->file = file;
  auto work = [this, impl = impl_.get(), own, runs, format = format.toStdString(), context = QPointer(context),
               done = std::move(done)] {
    QString problem;
    try {
      store::export_to_file(store::RunReader(impl->file()), runs, format, own->file.toStdString(), true,
                            [own] { return own->cancelled.load(); });
    } catch (const std::exception& error) {
      problem = QString::fromUtf8(error.what());
    }
    impl->post([this, own, context, done, problem] {
      std::erase(exports_, own);
      if (context)
        done(problem);
      Q_EMIT exports_changed();
    });
  };
  exports_.push_back(own);
  Q_EMIT exports_changed();
  impl_->ask([impl = impl_.get(), work = std::move(work)] { impl->export_soon(work); });
}

QStringList RunDatabase::exports() const {
  QStringList files;
  for (const auto& each : exports_)
    files.append(each->file);
  return files;
}

void RunDatabase::cancel_exports() {
  for (const auto& each : exports_)
    each->cancelled = true;
}

RunDatabase::Token RunDatabase::follow(std::int64_t run, std::function<void(Batch&&)> take) {
  return impl_->follow(run, std::move(take));
}

void RunDatabase::describe(std::int64_t run, QObject* context,
                           std::function<void(const StoredRun&, const QString& error)> take) {
  impl_->ask([impl = impl_.get(), run, context = QPointer(context), take = std::move(take)] {
    auto stored = std::make_shared<StoredRun>();
    QString problem;
    try {
      const store::RunReader reader(impl->file());
      stored->row = reader.run(run);
      stored->spec = run::stored_spec(reader.spec_json(run));
      stored->start = run::stored_start(reader.start_json(run));
    } catch (const std::exception& error) {
      problem = QString::fromUtf8(error.what());
    }
    impl->post([context, take, stored, problem] {
      if (context)
        take(*stored, problem);
    });
  });
}

} // namespace batchscope::ui
