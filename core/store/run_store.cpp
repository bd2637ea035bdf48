#include "core/store/run_store.h"

#include <cstdlib>
#include <string_view>
#include <utility>

#include "core/base/error.h"
#include "core/store/detail/commands.h"
#include "core/store/detail/complete_run.h"
#include "core/store/detail/prune.h"
#include "core/store/detail/run_changes.h"
#include "core/store/detail/run_rows.h"
#include "core/store/detail/run_store_impl.h"
#include "core/store/detail/views.h"
#include "core/store/file/detail/database.h"

namespace batchscope::store {

namespace {

// Shares ownership of the store, so that a run may outlive the RunStore that began it.
class StoredRun final : public RunWriter {
public:
  StoredRun(std::shared_ptr<void> owner, detail::Writer& writer, std::shared_ptr<detail::RunBuffer> buffer)
      : owner_(std::move(owner)), writer_(writer), buffer_(std::move(buffer)) {}

  ~StoredRun() override {
    if (finished_)
      return;
    try {
      writer_.write_now([this] {
        buffer_->drain();
        buffer_->outcome = buffer_->progress();
        buffer_->outcome->status = telemetry::RunStatus::failed;
        buffer_->outcome->reason = "abandoned";
      });
    } catch (const Error&) {
      // A destructor cannot report it; the store keeps trying to write the run.
    }
  }

  std::int64_t id() const override { return buffer_->id; }
  const std::string& uid() const override { return buffer_->uid; }
  std::uint64_t stored() const override { return buffer_->stored(); }
  void set_start(const std::string& start_json) override { buffer_->set_start(start_json); }
  telemetry::Sink& sink() override { return buffer_->queue; }

  void finish(const telemetry::RunOutcome& outcome) override {
    const bool again = std::exchange(finished_, true);
    writer_.write_now(
        [&] {
          // Even if writing fails now: the loop has ended, so there will be no more records.
          buffer_->drain();
          buffer_->outcome = outcome;
        },
        [&] {
          if (!again) // else the caller knows it from the error of its first call
            buffer_->report_stored();
        });
  }

private:
  std::shared_ptr<void> owner_;
  detail::Writer& writer_;
  std::shared_ptr<detail::RunBuffer> buffer_;
  bool finished_ = false;
};

} // namespace

namespace {

/// Before a job begins nothing is lost, so a write error means an unusable file, not a failed job.
template <typename Function> auto before_the_job(Function&& function) -> decltype(function()) {
  try {
    return function();
  } catch (const Error& error) {
    if (error.kind() != Error::Kind::failed)
      throw;
    throw Error(Error::Kind::unavailable, error.what());
  }
}

} // namespace

RunStore::RunStore(const std::filesystem::path& file, const StoreOptions& options)
    : impl_(before_the_job([&] { return std::make_shared<Impl>(file, options); })) {}

RunStore::~RunStore() {
  try {
    flush();
  } catch (const Error&) {
    // finish() has reported it to whoever wrote the run; the store keeps retrying for the remaining runs.
  }
}

std::unique_ptr<RunWriter> RunStore::begin(const NewRun& run) {
  return std::make_unique<StoredRun>(impl_, impl_->writer, before_the_job([&] { return impl_->writer.begin(run); }));
}

std::int64_t RunStore::add_finished(const NewRun& run, const telemetry::RunOutcome& outcome) {
  return impl_->writer.change([&](SQLite::Database& database) {
    const std::string uid = detail::new_uid();
    const std::int64_t id = detail::insert_run(database, run, uid, std::nullopt);
    detail::RunUpdate(database).close(id, outcome);
    impl_->writer.added(uid, id);
    return id;
  });
}

std::vector<RunStore::Added> RunStore::add_complete(const std::vector<CompleteRun>& runs,
                                                    const std::vector<std::string>& sweeps) {
  std::vector<Added> results;
  impl_->writer.change([&](SQLite::Database& database) {
    results.clear();
    detail::CompleteRuns complete(database, sweeps, impl_->writer.process());
    for (const CompleteRun& run : runs) {
      const auto [result, uid] = complete.add(run);
      results.push_back(result);
      if (result.added)
        impl_->writer.added(uid, result.id);
    }
    return std::int64_t{0};
  });
  return results;
}

std::int64_t RunStore::add_sweep(const std::string& spec_json) {
  return impl_->writer.change([&](SQLite::Database& database) { return detail::insert_sweep(database, spec_json); });
}

void RunStore::set_sweep(std::int64_t sweep, const std::string& spec_json) {
  impl_->writer.change([&](SQLite::Database& database) {
    detail::update_sweep(database, sweep, spec_json);
    return sweep;
  });
}

std::int64_t RunStore::add_search(const std::string& spec_json, const std::string& result_json) {
  return impl_->writer.change(
      [&](SQLite::Database& database) { return detail::insert_search(database, spec_json, result_json); });
}

void RunStore::rename(std::int64_t run, const std::string& name) {
  impl_->writer.change([&](SQLite::Database& database) {
    detail::rename_run(database, run, name);
    return run;
  });
}

void RunStore::set_note(std::int64_t run, const std::string& text) {
  impl_->writer.change([&](SQLite::Database& database) {
    detail::set_note(database, run, text);
    return run;
  });
}

void RunStore::add_tags(const std::vector<std::int64_t>& runs, const std::vector<std::string>& tags) {
  impl_->writer.change([&](SQLite::Database& database) {
    detail::change_tags(database, runs, tags, true);
    return std::int64_t{0};
  });
}

void RunStore::remove_tags(const std::vector<std::int64_t>& runs, const std::vector<std::string>& tags) {
  impl_->writer.change([&](SQLite::Database& database) {
    detail::change_tags(database, runs, tags, false);
    return std::int64_t{0};
  });
}

void RunStore::set_deleted(const std::vector<std::int64_t>& runs, bool deleted) {
  impl_->writer.change([&](SQLite::Database& database) {
    detail::set_deleted(database, runs, deleted);
    return std::int64_t{0};
  });
}

std::int64_t RunStore::purge_deleted() {
  // SQLite checkpoints the WAL of a large transaction at its commit, so the next one starts with an empty WAL, and
  // other processes can write in between.
  std::int64_t purged = 0;
  const auto purge_some = [&](SQLite::Database& database) {
    const auto uids = detail::purge_some(database);
    impl_->writer.purging(uids);
    return static_cast<std::int64_t>(uids.size());
  };
  while (const std::int64_t runs = impl_->writer.change(purge_some))
    purged += runs;
  return purged;
}

std::int64_t RunStore::prune(const std::vector<std::int64_t>& runs, const std::vector<std::string>& keep) {
  // A transaction for each, as purge_deleted() has parts. The ledger forgets the points before they are removed.
  std::int64_t removed = 0;
  for (const std::int64_t run : runs)
    removed += impl_->writer.change([&](SQLite::Database& database) {
      return detail::prune_run(database, run, keep, [&](const detail::Ledger::Run& now) {
        impl_->writer.purging({now.uid});
        impl_->writer.added(now.uid, now.id, now.points);
      });
    });
  return removed;
}

void RunStore::shrink() {
  impl_->writer.shrink();
}

void RunStore::save_view(const std::string& name, const std::string& content_json) {
  impl_->writer.change([&](SQLite::Database& database) {
    detail::store_view(database, name, content_json);
    return std::int64_t{0};
  });
}

void RunStore::delete_view(const std::string& name) {
  impl_->writer.change([&](SQLite::Database& database) {
    detail::remove_view(database, name);
    return std::int64_t{0};
  });
}

void RunStore::accept_missing() {
  impl_->writer.change([&](SQLite::Database& database) {
    impl_->writer.accept_missing(database);
    return std::int64_t{0};
  });
}

std::int64_t RunStore::send(std::int64_t run, const Command& command) {
  return impl_->writer.change(
      [&](SQLite::Database& database) { return detail::insert_command(database, run, command); });
}

void RunStore::flush() {
  impl_->writer.write_now();
}

RunStore::Backlog RunStore::backlog() const {
  return impl_->writer.backlog();
}

const std::filesystem::path& RunStore::file() const {
  return impl_->writer.file();
}

void check_usable(const std::filesystem::path& file) {
  detail::check_usable(file);
}

std::string why_read_only(const std::filesystem::path& file) {
  return detail::why_read_only(file);
}

std::filesystem::path default_database() {
  const auto variable = [](const char* name) -> std::string_view {
    const char* value = std::getenv(name);
    return value ? value : "";
  };
  if (const auto file = variable("BATCHSCOPE_DB"); !file.empty())
    return file;
  const std::filesystem::path below = "batchscope/runs.db";
  if (const auto data = variable("XDG_DATA_HOME"); !data.empty())
    return std::filesystem::path(data) / below;
  if (const auto home = variable("HOME"); !home.empty())
    return std::filesystem::path(home) / ".local/share" / below;
  throw input_error("the run database: neither BATCHSCOPE_DB nor XDG_DATA_HOME nor HOME is set; give a file with --db");
}

} // namespace batchscope::store
