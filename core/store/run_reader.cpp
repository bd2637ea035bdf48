#include <fmt/format.h>
#include <fmt/ranges.h>

#include "core/base/error.h"
#include "core/store/detail/check.h"
#include "core/store/detail/database.h"
#include "core/store/detail/process.h"
#include "core/store/detail/run_rows.h"
#include "core/store/detail/series_reader.h"
#include "core/store/detail/sql.h"
#include "core/store/list_filter.h"
#include "core/store/run_store.h"

namespace batchscope::store {

class RunReader::Impl {
public:
  explicit Impl(const std::filesystem::path& path) : file(path), database(detail::open_for_reading(path)) {}

  /// All that `work` reads is of one moment, whatever is written meanwhile.
  template <typename Work> auto read(Work&& work) {
    return detail::guarded(file, [&] {
      const SQLite::Transaction moment(database);
      return work();
    });
  }

  /// The first column of the one row that `query` has for `id`.
  std::string text(const char* query, const char* what, std::int64_t id) {
    return read([&] {
      SQLite::Statement statement(database, query);
      statement.bind(1, id);
      if (!statement.executeStep())
        throw input_error(fmt::format("{}: there is no {} {}", file.string(), what, id));
      return statement.getColumn(0).getString();
    });
  }

  void require_run(std::int64_t id) { text("SELECT name FROM run WHERE id = ?", "run", id); }

  const std::filesystem::path file;
  SQLite::Database database;
};

namespace {

// Columns before and behind those of the outcome.
constexpr int before_outcome = 5;
constexpr int behind_outcome = before_outcome + detail::outcome_column_count;

std::string run_query(const char* condition) {
  return fmt::format("SELECT run.id, uid, name, run.started, sweep, {}, process.host, process.boot, process.pid, "
                     "process.started FROM run LEFT JOIN process ON process.id = run.process {} ORDER BY run.id",
                     detail::outcome_columns, condition);
}

bool is_abandoned(SQLite::Statement& row, const std::string& status) {
  if (status != "running" && status != "queued")
    return false;
  if (row.getColumn(behind_outcome).isNull())
    return true;
  return detail::is_gone({.host = row.getColumn(behind_outcome),
                          .boot = row.getColumn(behind_outcome + 1),
                          .pid = row.getColumn(behind_outcome + 2).getInt64(),
                          .started = row.getColumn(behind_outcome + 3).getInt64()});
}

RunRow read_run(SQLite::Statement& row) {
  RunRow run{.id = row.getColumn(0).getInt64(),
             .uid = row.getColumn(1),
             .name = row.getColumn(2),
             .started = row.getColumn(3),
             .sweep = detail::optional_integer(row.getColumn(4)),
             .outcome = detail::read_outcome(row, before_outcome)};
  if (is_abandoned(row, run.outcome.status))
    run.outcome.status = "interrupted";
  return run;
}

} // namespace

RunReader::RunReader(const std::filesystem::path& file) : impl_(std::make_unique<Impl>(file)) {}
RunReader::~RunReader() = default;
RunReader::RunReader(RunReader&&) noexcept = default;
RunReader& RunReader::operator=(RunReader&&) noexcept = default;

std::vector<RunRow> RunReader::list(const std::string& where) const {
  const RunFilter filter = parse_list_filter(where);
  return impl_->read([&] {
    std::vector<RunRow> runs;
    SQLite::Statement query(impl_->database, run_query(""));
    while (query.executeStep())
      if (RunRow run = read_run(query); filter(run))
        runs.push_back(std::move(run));
    return runs;
  });
}

RunRow RunReader::run(std::int64_t id) const {
  return impl_->read([&] {
    SQLite::Statement query(impl_->database, run_query("WHERE run.id = ?"));
    query.bind(1, id);
    if (!query.executeStep())
      throw input_error(fmt::format("{}: there is no run {}", impl_->file.string(), id));
    return read_run(query);
  });
}

std::string RunReader::spec_json(std::int64_t id) const {
  return impl_->text("SELECT spec FROM run WHERE id = ?", "run", id);
}

std::string RunReader::start_json(std::int64_t id) const {
  return impl_->text("SELECT start FROM run WHERE id = ?", "run", id);
}

std::string RunReader::sweep_json(std::int64_t id) const {
  return impl_->text("SELECT spec FROM sweep WHERE id = ?", "sweep", id);
}

std::string RunReader::search_json(std::int64_t id) const {
  return impl_->text("SELECT result FROM search WHERE id = ?", "search", id);
}

std::vector<StoredEvent> RunReader::events(std::int64_t id) const {
  impl_->require_run(id);
  return impl_->read([&] {
    std::vector<StoredEvent> events;
    SQLite::Statement query(impl_->database, "SELECT step, seconds, kind, detail FROM event WHERE run = ? ORDER BY id");
    query.bind(1, id);
    while (query.executeStep())
      events.push_back({.step = query.getColumn(0).getInt64(),
                        .seconds = detail::real(query.getColumn(1)),
                        .kind = query.getColumn(2),
                        .detail_json = query.getColumn(3)});
    return events;
  });
}

std::vector<SeriesSummary> RunReader::summaries(std::int64_t id) const {
  impl_->require_run(id);
  return impl_->read([&] {
    std::vector<SeriesSummary> summaries;
    for (const detail::SeriesRow& series : detail::read_series_rows(impl_->database, id))
      summaries.push_back({.name = series.name,
                           .count = series.summary.count,
                           .last_step = series.summary.last_step,
                           .last = series.summary.last,
                           .min = series.summary.min,
                           .max = series.summary.max});
    return summaries;
  });
}

std::vector<std::string> RunReader::series_names(std::int64_t id) const {
  std::vector<std::string> names;
  for (SeriesSummary& summary : summaries(id))
    names.push_back(std::move(summary.name));
  return names;
}

std::vector<Point> RunReader::series(std::int64_t id, const std::string& name) const {
  impl_->require_run(id);
  return impl_->read([&] {
    std::vector<std::string> known;
    for (const detail::SeriesRow& series : detail::read_series_rows(impl_->database, id)) {
      if (series.name == name)
        return detail::read_points(impl_->database, series, [&](const std::string& what) {
          throw Error(Error::Kind::failed, fmt::format("{}: run {}: series {}: {}; `batchscope-cli check` says more",
                                                       impl_->file.string(), id, name, what));
        });
      known.push_back(series.name);
    }
    throw input_error(known.empty()
                          ? fmt::format("run {} has no series yet, so none called {}", id, name)
                          : fmt::format("run {} has no series {}; it has {}", id, name, fmt::join(known, ", ")));
  });
}

std::vector<std::int64_t> RunReader::runs_of_sweep(std::int64_t sweep) const {
  sweep_json(sweep);
  return impl_->read([&] {
    std::vector<std::int64_t> runs;
    SQLite::Statement query(impl_->database, "SELECT id FROM run WHERE sweep = ? ORDER BY id");
    query.bind(1, sweep);
    while (query.executeStep())
      runs.push_back(query.getColumn(0).getInt64());
    return runs;
  });
}

std::vector<std::string> RunReader::check() const {
  return impl_->read([&] { return detail::check(impl_->database); });
}

} // namespace batchscope::store
