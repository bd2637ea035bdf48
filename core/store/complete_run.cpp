#include "core/store/detail/complete_run.h"

#include <algorithm>
#include <cmath>
#include <optional>

#include <fmt/format.h>

#include "core/store/detail/record_writer.h"
#include "core/store/detail/run_buffer.h"
#include "core/store/detail/run_rows.h"
#include "core/store/detail/series_reader.h"
#include "core/store/detail/tags.h"
#include "core/store/file/detail/sql.h"
#include "core/telemetry/outcome_fields.h"

namespace batchscope::store::detail {

namespace {

using Added = RunStore::Added;
using Update = CompleteRun::Update;

/// Change that brings a stored series to its present state.
struct Change {
  const std::string* name;
  const std::vector<Point>* points;
  std::optional<SeriesRow> stored; ///< nothing: it is new, or replaces one
  std::int64_t sealed = 0;         ///< points of the stored one that are in chunks
};

/// A stored run beside the same run as it is now.
struct Changes {
  bool other_run = false; ///< its points differ, so it is not the same run
  bool behind = false;    ///< more is stored than the run now has
  std::vector<Change> changes;
  std::vector<std::int64_t> replaced; ///< frames
};

bool same(const Point& a, const Point& b) {
  return a.step == b.step && (a.value == b.value || (std::isnan(a.value) && std::isnan(b.value)));
}

/// Each series of such a run has a frame of its own.
void compare_series(SQLite::Database& database, const SeriesRow& row, const std::vector<Point>& points,
                    const CompleteRun& run, Changes& comparison) {
  bool sound = true;
  const auto stored = read_points(database, row, [&](const std::string&) { sound = false; });
  const std::size_t both = std::min(stored.size(), points.size());
  if (!sound || !std::equal(stored.begin(), stored.begin() + static_cast<std::ptrdiff_t>(both), points.begin(), same)) {
    comparison.other_run = comparison.other_run || (sound && run.update == Update::extend);
    if (!points.empty() && points.back().step >= row.summary.last_step) {
      comparison.replaced.push_back(row.frame);
      comparison.changes.push_back({&row.name, &points, std::nullopt});
    } else {
      comparison.behind = true;
    }
    return;
  }
  comparison.behind = comparison.behind || stored.size() > points.size();
  const std::int64_t sealed =
      find_integer(database, "SELECT max(first + n) FROM step_chunk WHERE frame = ?", row.frame).value_or(0);
  const bool in_tail = sealed < static_cast<std::int64_t>(stored.size());
  if (stored.size() < points.size() || (in_tail && !telemetry::is_open(run.outcome.status)))
    comparison.changes.push_back({&row.name, &points, row, sealed});
}

Changes compare(SQLite::Database& database, const std::vector<SeriesRow>& rows, const CompleteRun& run) {
  Changes comparison;
  for (const auto& [name, points] : run.series) {
    const auto row = std::find_if(rows.begin(), rows.end(), [&](const SeriesRow& one) { return one.name == name; });
    if (row == rows.end())
      comparison.changes.push_back({&name, &points, std::nullopt});
    else
      compare_series(database, *row, points, run, comparison);
  }
  return comparison;
}

/// The number-th uid after `uid`.
std::string uid_after(const std::string& uid, std::uint32_t number) {
  constexpr std::size_t digits = 8;
  const std::size_t kept = uid.size() - digits;
  const auto last = static_cast<std::uint32_t>(std::stoul(uid.substr(kept), nullptr, 16));
  return fmt::format("{}{:08x}", uid.substr(0, kept), last + number);
}

struct Stored {
  std::int64_t id = 0;
  bool deleted = false;
  telemetry::RunOutcome outcome;
  std::string spec;
};

std::optional<Stored> find(SQLite::Database& database, const std::string& uid) {
  auto query = prepare(database, run_query("uid = ?"), uid);
  if (!query.executeStep())
    return std::nullopt;
  const RunRow row = read_run(query);
  auto more = prepare(database, "SELECT deleted IS NOT NULL, spec FROM run WHERE id = ?", row.id);
  more.executeStep();
  return Stored{row.id, more.getColumn(0).getInt() != 0, row.outcome, more.getColumn(1).getString()};
}

RunBuffer buffer_of(std::int64_t id, const CompleteRun& run) {
  NewRun row;
  row.status = run.outcome.status;
  return {id, run.uid, row, 1};
}

void write(SQLite::Database& database, RunBuffer& buffer, const CompleteRun& run) {
  if (telemetry::is_open(run.outcome.status))
    buffer.set_progress(run.outcome);
  else
    buffer.outcome = run.outcome;
  RecordWriter(database).write(buffer);
}

void extend(SQLite::Database& database, std::int64_t id, const CompleteRun& run, const Changes& comparison,
            std::int64_t process) {
  for (const std::int64_t frame : comparison.replaced)
    execute(database, "DELETE FROM frame WHERE id = ?", frame);
  execute(database, "UPDATE run SET spec = ?, process = ? WHERE id = ?", run.spec_json, process, id);
  RunBuffer buffer = buffer_of(id, run);
  for (const Change& change : comparison.changes) {
    if (change.stored)
      buffer.extend_series(change.stored->frame, change.stored->id, *change.name, change.stored->summary, change.sealed,
                           *change.points);
    else
      buffer.add_series(*change.name, *change.points);
  }
  write(database, buffer, run);
}

} // namespace

std::pair<Added, std::string> CompleteRuns::add(const CompleteRun& run) {
  for (std::uint32_t number = 0;; ++number) {
    const std::string uid = uid_after(run.uid, number);
    const auto stored = find(database_, uid);
    if (!stored)
      return {{.id = insert(run, uid)}, uid};
    const std::pair<Added, std::string> known{{.id = stored->id, .added = false}, uid};
    if (run.update == Update::never)
      return known;
    const auto rows = read_series_rows(database_, stored->id);
    const Changes comparison = compare(database_, rows, run);
    if (comparison.other_run)
      continue;
    const bool grown = !comparison.changes.empty() && !comparison.behind;
    const bool said_otherwise =
        !comparison.behind && (stored->spec != run.spec_json || to_json(stored->outcome) != to_json(run.outcome));
    if (stored->deleted || (!grown && !said_otherwise))
      return known;
    extend(database_, stored->id, run, comparison, process_);
    return {{.id = stored->id, .added = false, .extended = true}, uid};
  }
}

std::int64_t CompleteRuns::insert(const CompleteRun& run, const std::string& uid) {
  NewRun row;
  row.name = run.name;
  row.status = run.outcome.status;
  row.spec_json = run.spec_json;
  row.start_json = run.start_json;
  row.environment_json = run.environment_json;
  row.batch = run.outcome.batch;
  if (run.sweep) {
    auto& sweep = stored_sweeps_[*run.sweep];
    if (sweep == 0)
      sweep = insert_sweep(database_, sweeps_.at(*run.sweep));
    row.sweep = sweep;
  }
  const bool running = telemetry::is_open(run.outcome.status);
  const std::int64_t id = insert_run(database_, row, uid, running ? std::optional(process_) : std::nullopt);
  execute(database_, "UPDATE run SET started = ?, note = ?, workers = ?, tags = ? WHERE id = ?", run.started, run.note,
          run.workers, stored_tags(run.tags), id);
  RunBuffer buffer = buffer_of(id, run);
  for (const auto& [name, points] : run.series)
    buffer.add_series(name, points);
  for (const telemetry::Event& event : run.events)
    buffer.add_event(event);
  write(database_, buffer, run);
  return id;
}

} // namespace batchscope::store::detail
