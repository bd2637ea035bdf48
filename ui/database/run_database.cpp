#include "ui/database/run_database.h"

#include <QPointer>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <condition_variable>
#include <deque>
#include <mutex>
#include <thread>
#include <utility>

#include "core/base/error.h"
#include "core/exchange/export.h"
#include "core/store/run_reader.h"
#include "core/store/run_store.h"
#include "core/store/sweep_queue.h"
#include "core/sweep/sweep.h"
#include "ui/database/followed_runs.h"
#include "ui/database/list_watch.h"
#include "ui/threads/ui_queue.h"
#include "ui/threads/worker_thread.h"

namespace batchscope::ui {

namespace {

/// Interval of reading the list of runs and the followed runs.
constexpr std::chrono::milliseconds interval{400};

std::vector<std::string> texts(const QStringList& list) {
  std::vector<std::string> texts;
  for (const QString& text : list)
    texts.push_back(text.toStdString());
  return texts;
}

std::string output_of(const store::RunReader& reader, std::int64_t run) {
  for (telemetry::Event& event : reader.events(run))
    if (auto* output = std::get_if<telemetry::ProgramOutput>(&event.body))
      return std::move(output->tail);
  return {};
}

} // namespace

/// A file being written. Shared by the UI thread and the exporting thread.
struct RunDatabase::Export {
  QString file; ///< constant
  std::atomic<bool> cancelled{false};
};

/// The database's thread: performs changes and requests in order, then reads the list of runs, then the followed runs.
/// Exports take long and do not depend on these, so they have a thread of their own.
class RunDatabase::Impl : private ListWatch::Listener {
public:
  explicit Impl(RunDatabase& run_database)
      : run_database_(run_database), file_(run_database.database_), list_(file_, *this),
        followed_(file_, [this](std::function<void()> function) { post(std::move(function)); }),
        thread_([this] { loop(); }) {}

  ~Impl() override {
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

  Token follow(std::int64_t run, std::function<void(RunBatch&&)> take) {
    auto follower = std::make_shared<FollowedRuns::Follower>(FollowedRuns::Follower{std::move(take)});
    ask([this, run, weak = std::weak_ptr(follower)] { followed_.add(run, weak); });
    return follower;
  }

  // --- the database's thread ---

  /// Performs a change and reports an error; returns false if there was one.
  bool change(const std::function<void(store::RunStore&)>& work) {
    try {
      // Opening a database for writing would create a missing one, which has none of the runs.
      if (!std::filesystem::exists(file_))
        throw Error(Error::Kind::input, list_.gone().toStdString());
      store::RunStore store(file_);
      work(store);
      return true;
    } catch (const std::exception& error) {
      // Reported every time, and not cleared by the next successful read of the list.
      problem(tr("Not changed: %1").arg(QString::fromUtf8(error.what())));
      return false;
    }
  }

  void export_soon(std::function<void()> work) { exports_.post(std::move(work)); }

  // --- any thread ---

  /// Runs `function` on the UI thread, while the RunDatabase lives.
  void post(std::function<void()> function) { results_.post(std::move(function)); }

  const std::filesystem::path& file() const { return file_; }

private:
  void loop() {
    std::chrono::milliseconds pause{0}; // the first look is at once
    while (true) {
      std::deque<std::function<void()>> tasks;
      {
        std::unique_lock lock(mutex_);
        wake_.wait_for(lock, pause, [this] { return closing_ || !tasks_.empty(); });
        if (closing_ && tasks_.empty())
          return;
        tasks.swap(tasks_);
      }
      for (auto& task : tasks)
        task();
      list_.look();
      pause = followed_.read_on() ? std::chrono::milliseconds(1) : interval;
    }
  }

  void list_changed(store::ListChanges changes) override {
    auto shared = std::make_shared<store::ListChanges>(std::move(changes));
    post([this, shared] { run_database_.take(std::move(*shared)); });
  }

  void searches_read(std::vector<std::shared_ptr<const StoredSearch>> searches) override {
    post([this, searches = std::move(searches)] {
      run_database_.searches_.insert(run_database_.searches_.end(), searches.begin(), searches.end());
      Q_EMIT run_database_.searches_changed();
    });
  }

  void views_read(std::vector<store::SavedView> views) override {
    post([this, views = std::move(views)] {
      run_database_.views_ = views;
      Q_EMIT run_database_.views_changed();
    });
  }

  void searches_forgotten() override {
    post([this] {
      run_database_.searches_.clear();
      Q_EMIT run_database_.searches_changed();
    });
  }

  void problem(const QString& text) override {
    post([this, text] { Q_EMIT run_database_.problem(text); });
  }

  void damaged(const QString& text) override {
    post([this, text] { Q_EMIT run_database_.damaged(text); });
  }

  void read_only(const QString& why) override {
    post([this, why] {
      run_database_.read_only_ = why;
      Q_EMIT run_database_.read_only_changed();
    });
  }

  RunDatabase& run_database_;
  const std::filesystem::path file_;
  UiQueue results_;

  // Used by the database's thread only.
  ListWatch list_;
  FollowedRuns followed_;

  std::mutex mutex_;
  std::condition_variable wake_;
  std::deque<std::function<void()>> tasks_; ///< guarded by mutex_
  bool closing_ = false;                    ///< guarded by mutex_

  WorkerThread exports_;
  std::thread thread_; ///< last: it uses all of the above
};

RunDatabase::RunDatabase(std::filesystem::path database, QObject* parent)
    : QObject(parent), database_(std::move(database)), impl_(std::make_unique<Impl>(*this)),
      imports_(std::make_unique<RunImports>(database_, [this] { impl_->look_soon(); })),
      followed_imports_(std::make_unique<FollowedImports>(database_, [this] { impl_->look_soon(); })) {
  connect(followed_imports_.get(), &FollowedImports::problem, this, &RunDatabase::problem);
}

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

void RunDatabase::add_tags(const std::vector<std::int64_t>& runs, const QStringList& tags) {
  impl_->ask([impl = impl_.get(), runs, tags = texts(tags)] {
    impl->change([&](store::RunStore& store) { store.add_tags(runs, tags); });
  });
}

void RunDatabase::remove_tags(const std::vector<std::int64_t>& runs, const QStringList& tags) {
  impl_->ask([impl = impl_.get(), runs, tags = texts(tags)] {
    impl->change([&](store::RunStore& store) { store.remove_tags(runs, tags); });
  });
}

void RunDatabase::set_deleted(const std::vector<std::int64_t>& runs, bool deleted) {
  impl_->ask([impl = impl_.get(), runs, deleted] {
    impl->change([&](store::RunStore& store) { store.set_deleted(runs, deleted); });
  });
}

void RunDatabase::read_deleted(QObject* context, std::function<void(const std::vector<store::RunRow>& runs)> take) {
  impl_->ask([this, impl = impl_.get(), context = QPointer(context), take = std::move(take)] {
    auto runs = std::make_shared<std::vector<store::RunRow>>();
    QString failure;
    try {
      *runs = store::RunReader(impl->file()).deleted();
    } catch (const std::exception& error) {
      failure = QString::fromUtf8(error.what());
    }
    impl->post([this, context, take, runs, failure] {
      if (!failure.isEmpty())
        Q_EMIT problem(failure);
      else if (context)
        take(*runs);
    });
  });
}

void RunDatabase::purge_deleted(QObject* context, std::function<void(std::int64_t runs)> done) {
  impl_->ask([impl = impl_.get(), context = QPointer(context), done = std::move(done)] {
    std::int64_t purged = 0;
    if (impl->change([&](store::RunStore& store) { purged = store.purge_deleted(); }))
      impl->post([context, done, purged] {
        if (context)
          done(purged);
      });
  });
}

void RunDatabase::save_view(const QString& name, const QString& content_json) {
  impl_->ask([impl = impl_.get(), name = name.toStdString(), content = content_json.toStdString()] {
    impl->change([&](store::RunStore& store) { store.save_view(name, content); });
  });
}

void RunDatabase::delete_view(const QString& name) {
  impl_->ask([impl = impl_.get(), name = name.toStdString()] {
    impl->change([&](store::RunStore& store) { store.delete_view(name); });
  });
}

void RunDatabase::skip_waiting(std::int64_t sweep, const std::vector<std::int64_t>& runs) {
  impl_->ask([impl = impl_.get(), sweep, runs] {
    impl->change([&](store::RunStore& store) { store::SweepQueue(store, sweep).skip(runs, "skipped"); });
  });
}

void RunDatabase::move_waiting(std::int64_t sweep, std::int64_t run, std::optional<std::int64_t> before) {
  impl_->ask([impl = impl_.get(), sweep, run, before] {
    impl->change([&](store::RunStore& store) { store::SweepQueue(store, sweep).move(run, before); });
  });
}

void RunDatabase::extend_sweep(std::int64_t sweep, const sweep::Extension& extension, QObject* context,
                               std::function<void()> done) {
  impl_->ask([impl = impl_.get(), sweep, extension, context = QPointer(context), done = std::move(done)] {
    const bool added = impl->change([&](store::RunStore& store) {
      const auto plan = sweep::plan_rest(store::RunReader(impl->file()), sweep, extension);
      store.set_sweep(sweep, sweep::to_json(plan.spec));
      sweep::enqueue(plan, sweep, store);
    });
    if (added)
      impl->post([context, done] {
        if (context)
          done();
      });
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
      exchange::export_to_file(store::RunReader(impl->file()), runs, format, own->file.toStdString(), true,
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

RunDatabase::Token RunDatabase::follow(std::int64_t run, std::function<void(RunBatch&&)> take) {
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
      if (stored->spec)
        stored->start = run::run_start_from_json(reader.start_json(run));
      if (stored->row.settings.program && stored->row.outcome.status == telemetry::RunStatus::failed)
        stored->output = output_of(reader, run);
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

#include "moc_run_database.cpp"
