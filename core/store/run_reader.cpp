#include <algorithm>
#include <optional>

#include <sqlite3.h>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "core/base/error.h"
#include "core/store/detail/check.h"
#include "core/store/detail/connection.h"
#include "core/store/detail/list_columns.h"
#include "core/store/detail/ownership.h"
#include "core/store/detail/prune.h"
#include "core/store/detail/run_list.h"
#include "core/store/detail/run_rows.h"
#include "core/store/detail/series_reader.h"
#include "core/store/detail/views.h"
#include "core/store/file/detail/database.h"
#include "core/store/file/detail/sql.h"
#include "core/store/list_filter.h"
#include "core/store/run_fields.h"
#include "core/store/run_reader.h"
#include "core/telemetry/event_codec.h"

namespace batchscope::store {

class RunReader::Impl {
public:
  explicit Impl(const std::filesystem::path& path)
      : file(path),
        connection(path, detail::Connection::Access::read, [path] { return detail::open_for_reading(path); }) {}

  /// Call it only inside read().
  SQLite::Database& database() { return *connection.use(); }

  /// Everything that `work` reads is from one snapshot: that of the surrounding read(), or its own.
  template <typename Work> auto read(Work&& work) {
    return detail::guarded(file, [&] {
      const detail::Connection::Use use = connection.use();
      std::optional<SQLite::Transaction> moment;
      if (sqlite3_get_autocommit(use->getHandle()) != 0)
        moment.emplace(*use);
      return work();
    });
  }

  /// The first column of the single row that `query` returns for `id`.
  std::string text(const std::string& query, const char* what, std::int64_t id) {
    return read([&] {
      auto statement = detail::prepare(database(), query, id);
      if (!statement.executeStep())
        throw input_error(fmt::format("{}: there is no {} {}", file.string(), what, id));
      return statement.getColumn(0).getString();
    });
  }

  /// A column of the run.
  std::string run_text(const char* column, std::int64_t id) {
    return text(fmt::format("SELECT {} FROM run WHERE id = ? AND deleted IS NULL", column), "run", id);
  }

  void require_run(std::int64_t id) { run_text("name", id); }

  RunList table(const std::string& where, const std::vector<std::string>& names, bool deleted) {
    return read([&] {
      RunList list;
      detail::ListColumns more(database());
      for (const std::string& name : names)
        list.columns.push_back(more.field(name, "--columns"));
      const RunFilter filter =
          parse_list_filter(where, {.find = [&](const std::string& name) { return more.find(name); },
                                    .accepted = [&] { return more.accepted(); }});
      SQLite::Statement query(
          database(), detail::run_query(deleted ? "deleted IS NOT NULL" : "deleted IS NULL", more.expressions()));
      more.bind(query);
      while (query.executeStep()) {
        RunRow run = detail::read_run(query);
        run.more = more.read(query, detail::columns_of_run());
        if (filter(run))
          list.rows.push_back(std::move(run));
      }
      return list;
    });
  }

  /// Throws Error (input) naming the existing series if there is none of this name. Call it only inside read().
  detail::SeriesRow series_row(std::int64_t id, const std::string& name) {
    std::vector<std::string> known;
    for (detail::SeriesRow& series : detail::read_series_rows(database(), id)) {
      if (series.name == name)
        return std::move(series);
      known.push_back(series.name);
    }
    throw input_error(known.empty()
                          ? fmt::format("run {} has no series {}: it has no series yet", id, name)
                          : fmt::format("run {} has no series {}; it has {}", id, name, fmt::join(known, ", ")));
  }

  /// Throws Error (failed) for damaged points.
  detail::Complaint refusal(std::int64_t id, const std::string& name) const {
    return [this, id, name](const std::string& what) {
      throw Error(Error::Kind::failed, fmt::format("{}: run {}: series {}: {}; `batchscope-cli check` shows more",
                                                   file.string(), id, name, what));
    };
  }

  /// Not inside read(): the ledger is read before and after the database.
  std::vector<std::string> missing() {
    return detail::guarded(file, [&] { return detail::missing_runs(*connection.use(), file); });
  }

  const std::filesystem::path file;
  detail::Connection connection;
};

RunReader::RunReader(const std::filesystem::path& file) : impl_(std::make_unique<Impl>(file)) {}
RunReader::~RunReader() = default;
RunReader::RunReader(RunReader&&) noexcept = default;
RunReader& RunReader::operator=(RunReader&&) noexcept = default;

void RunReader::at_one_moment(const std::function<void()>& read) const {
  impl_->read(read);
}

std::vector<RunRow> RunReader::list(const std::string& where) const {
  return table(where, {}).rows;
}

RunList RunReader::table(const std::string& where, const std::vector<std::string>& columns, bool deleted) const {
  return impl_->table(where, columns, deleted);
}

ListChanges RunReader::changes(ListCursor& cursor) const {
  return impl_->read([&] {
    // After the files were replaced, numbers may belong to other rows.
    const std::int64_t generation = impl_->connection.generation();
    if (cursor.generation != generation)
      cursor = {};
    ListChanges changes = detail::read_list_changes(impl_->database(), cursor);
    cursor.generation = generation;
    return changes;
  });
}

std::vector<RunRow> RunReader::deleted() const {
  return table({}, {}, true).rows;
}

RunRow RunReader::run(std::int64_t id) const {
  return impl_->read([&] {
    auto run = detail::find_run(impl_->database(), id);
    if (!run)
      throw input_error(fmt::format("{}: there is no run {}", impl_->file.string(), id));
    return *std::move(run);
  });
}

std::vector<RunRow> RunReader::present(const std::vector<std::int64_t>& ids) const {
  return impl_->read([&] {
    std::vector<RunRow> runs;
    for (const std::int64_t id : ids)
      if (auto run = detail::find_run(impl_->database(), id))
        runs.push_back(*std::move(run));
    return runs;
  });
}

std::string RunReader::spec_json(std::int64_t id) const {
  return impl_->run_text("spec", id);
}

std::string RunReader::settings_key(std::int64_t id) const {
  return impl_->run_text("coalesce(settings_key, '')", id);
}

std::string RunReader::start_json(std::int64_t id) const {
  return impl_->run_text("start", id);
}

std::string RunReader::environment_json(std::int64_t id) const {
  return impl_->run_text("environment", id);
}

std::string RunReader::sweep_json(std::int64_t id) const {
  return impl_->text("SELECT spec FROM sweep WHERE id = ?", "sweep", id);
}

std::string RunReader::search_json(std::int64_t id) const {
  return impl_->text("SELECT result FROM search WHERE id = ?", "search", id);
}

std::vector<StoredSearch> RunReader::searches(std::int64_t after, std::int64_t most) const {
  return impl_->read([&] {
    std::vector<StoredSearch> searches;
    auto query = detail::prepare(impl_->database(),
                                 "SELECT id, created, spec, result FROM search WHERE id > ? ORDER BY id DESC LIMIT ?",
                                 after, most);
    while (query.executeStep())
      searches.push_back({.id = query.getColumn(0).getInt64(),
                          .created = query.getColumn(1),
                          .spec_json = query.getColumn(2),
                          .result_json = query.getColumn(3)});
    std::reverse(searches.begin(), searches.end());
    return searches;
  });
}

namespace {

/// Of a row with step, seconds, kind and detail.
telemetry::Event event_in(SQLite::Statement& row) {
  return telemetry::decode_event(row.getColumn(0).getInt64(), detail::real(row.getColumn(1)),
                                 row.getColumn(2).getString(), row.getColumn(3).getString());
}

} // namespace

std::vector<telemetry::Event> RunReader::events(std::int64_t id) const {
  impl_->require_run(id);
  return impl_->read([&] {
    std::vector<telemetry::Event> events;
    auto query = detail::prepare(impl_->database(),
                                 "SELECT step, seconds, kind, detail FROM event WHERE run = ? ORDER BY id", id);
    while (query.executeStep())
      events.push_back(event_in(query));
    return events;
  });
}

std::vector<SeriesSummary> RunReader::summaries(std::int64_t id) const {
  impl_->require_run(id);
  return impl_->read([&] {
    std::vector<SeriesSummary> summaries;
    for (const detail::SeriesRow& series : detail::read_series_rows(impl_->database(), id))
      summaries.push_back({.name = series.name,
                           .count = series.summary.count,
                           .last_step = series.summary.last_step,
                           .last = series.summary.last,
                           .min = series.summary.min,
                           .max = series.summary.max});
    return summaries;
  });
}

bool RunReader::was_edited(std::int64_t id) const {
  return impl_->read([&] {
    auto query = detail::prepare(
        impl_->database(),
        "SELECT step, seconds, kind, detail FROM event WHERE run = ? AND kind IN ('edit', 'shares') ORDER BY id", id);
    while (query.executeStep()) {
      const telemetry::EventBody body = event_in(query).body;
      const auto* schedule = std::get_if<telemetry::ScheduleEdit>(&body);
      const auto* shares = std::get_if<telemetry::SharesEdit>(&body);
      if ((schedule != nullptr && !schedule->refused) || (shares != nullptr && !shares->refused))
        return true;
    }
    return false;
  });
}

std::vector<std::string> RunReader::series_names(std::int64_t id) const {
  std::vector<std::string> names;
  for (SeriesSummary& summary : summaries(id))
    names.push_back(std::move(summary.name));
  return names;
}

void RunReader::visit_series(std::int64_t id, const std::string& name, const PointVisitor& visit) const {
  impl_->require_run(id);
  impl_->read(
      [&] { detail::visit_points(impl_->database(), impl_->series_row(id, name), impl_->refusal(id, name), visit); });
}

std::vector<Point> RunReader::series(std::int64_t id, const std::string& name) const {
  impl_->require_run(id);
  return impl_->read(
      [&] { return detail::read_points(impl_->database(), impl_->series_row(id, name), impl_->refusal(id, name)); });
}

std::vector<std::int64_t> RunReader::runs_of_sweep(std::int64_t sweep) const {
  sweep_json(sweep);
  return impl_->read([&] {
    return detail::find_integers(impl_->database(),
                                 "SELECT id FROM run WHERE sweep = ? AND deleted IS NULL ORDER BY id", sweep);
  });
}

std::vector<SavedView> RunReader::views() const {
  return impl_->read([&] { return detail::read_views(impl_->database()); });
}

RunReader::Prunable RunReader::prunable(const std::vector<std::int64_t>& runs,
                                        const std::vector<std::string>& keep) const {
  return impl_->read([&] { return detail::prunable(impl_->database(), runs, keep); });
}

std::uint64_t RunReader::free_bytes() const {
  return impl_->read([&] { return detail::free_bytes(impl_->database()); });
}

std::vector<std::int64_t> RunReader::waiting_runs(std::int64_t sweep) const {
  return impl_->read([&] { return detail::waiting_runs(impl_->database(), sweep); });
}

std::vector<StoredSweep> RunReader::sweeps() const {
  return impl_->read([&] {
    std::vector<StoredSweep> sweeps;
    SQLite::Statement query(impl_->database(), "SELECT id, created, spec FROM sweep ORDER BY id");
    while (query.executeStep())
      sweeps.push_back(
          {.id = query.getColumn(0).getInt64(), .created = query.getColumn(1), .spec_json = query.getColumn(2)});
    return sweeps;
  });
}

bool RunReader::taken(std::int64_t command) const {
  return impl_->text("SELECT taken IS NOT NULL FROM command WHERE id = ?", "command", command) == "1";
}

std::int64_t RunReader::version() const {
  // After the files were replaced, another connection may have the same data version, so the generation is part of it.
  constexpr int bits_of_a_number = 32;
  return impl_->read([&] {
    return (impl_->connection.generation() << bits_of_a_number) +
           impl_->database().execAndGet("PRAGMA data_version").getInt64();
  });
}

std::vector<std::string> RunReader::check() const {
  auto lines = impl_->read([&] { return detail::check(impl_->database()); });
  const auto missing = impl_->missing();
  lines.insert(lines.end(), missing.begin(), missing.end());
  return lines;
}

std::vector<std::string> RunReader::quick_check(const std::function<bool()>& stop) const {
  auto lines = impl_->read([&] { return detail::check_quickly(impl_->database(), stop); });
  // What is damaged may be what the search for missing runs reads.
  if (!lines.empty() || (stop && stop()))
    return lines;
  return impl_->missing();
}

std::string RunReader::notice() const {
  return impl_->connection.notice();
}

} // namespace batchscope::store
