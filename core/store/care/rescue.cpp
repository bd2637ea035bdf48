#include "core/store/care/detail/rescue.h"

#include <algorithm>
#include <functional>
#include <optional>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "core/store/care/detail/damaged_rows.h"
#include "core/store/care/detail/saved_points.h"
#include "core/store/detail/record_writer.h"
#include "core/store/detail/run_rows.h"
#include "core/store/file/detail/row_checks.h"
#include "core/store/file/detail/sql.h"

namespace batchscope::store::detail {

namespace {

void bind_column(SQLite::Statement& statement, int index, const SQLite::Column& value) {
  if (value.isNull())
    statement.bind(index);
  else if (value.isInteger())
    statement.bind(index, std::int64_t{value.getInt64()});
  else if (value.isFloat())
    statement.bind(index, value.getDouble());
  else
    statement.bind(index, value.getString());
}

std::string insert_text(const CheckedTable& table) {
  std::string values;
  for (std::size_t i = 0; i < table.columns.size(); ++i)
    values += ", ?";
  return fmt::format("INSERT INTO {} (id, {}) VALUES (?{})", table.name, fmt::join(table.columns, ", "), values);
}

/// Replacement for a damaged value of a run or sweep; nothing: NULL.
std::optional<std::string> replacement(const std::string& column) {
  if (column == "spec" || column == "start" || column == "environment")
    return "{}";
  if (column == "tags")
    return "[]";
  if (column == "status")
    return "interrupted";
  if (column == "uid")
    return new_uid();
  const bool is_text =
      column == "name" || column == "reason" || column == "started" || column == "created" || column == "note";
  return is_text ? std::optional<std::string>("") : std::nullopt;
}

/// Numbers that a run must have.
bool is_count(const std::string& column) {
  return column == "steps" || column == "examples_seen" || column == "oom_events" || column == "peak_bytes" ||
         column == "reserved_bytes" || column == "workers";
}

/// Moves what is whole from a damaged database into a new one.
class Rescue {
public:
  Rescue(SQLite::Database& old, SQLite::Database& fresh) : old_(old), fresh_(fresh), tables_(checked_tables(old)) {}

  std::vector<std::string> run() {
    save_identity();
    save_in_part("sweep");
    for (const char* table : {"search", "view"})
      save_rows(table, [](SQLite::Statement&) { return true; });
    save_in_part("run");
    save_rows("event", [this](SQLite::Statement& row) { return has_run(row.getColumn(3).getInt64()); });
    save_points();
    return std::move(lost_);
  }

private:
  const CheckedTable* table(const std::string& name) const {
    const auto found =
        std::find_if(tables_.begin(), tables_.end(), [&](const CheckedTable& each) { return each.name == name; });
    return found == tables_.end() ? nullptr : &*found;
  }

  /// Calls `take` with the rows of a table: rowid, two columns for damage_of(), and its other columns.
  void scan(const CheckedTable& table, const std::function<void(SQLite::Statement&)>& take) {
    scan_rows(old_, table.name, fmt::format("{}, {}", check_columns(table), fmt::join(table.columns, ", ")), take,
              [&](std::int64_t after) {
                lost_.push_back(
                    fmt::format("rows of the table {} after number {}: they cannot be read", table.name, after));
              });
  }

  void save_identity() {
    if (const CheckedTable* identity = table("identity"))
      scan(*identity, [&](SQLite::Statement& row) {
        if (!damage_of(row, 1, *identity).empty())
          return;
        execute(fresh_, "UPDATE identity SET uid = ?", row.getColumn(3).getString());
      });
  }

  /// Rows that are worth nothing in part.
  void save_rows(const char* name, const std::function<bool(SQLite::Statement&)>& is_wanted) {
    const CheckedTable* table = this->table(name);
    if (!table)
      return;
    SQLite::Statement insert(fresh_, insert_text(*table));
    SQLite::Transaction transaction(fresh_);
    scan(*table, [&](SQLite::Statement& row) {
      const std::int64_t id = row.getColumn(0).getInt64();
      if (const auto damage = damage_of(row, 1, *table); !damage.empty())
        return lost_.push_back(fmt::format("{} {}: {} damaged", name, id, fmt::join(damage, ", ")));
      if (!is_wanted(row))
        return;
      insert.bind(1, id);
      for (int i = 0; i < static_cast<int>(table->columns.size()); ++i)
        bind_column(insert, i + 2, row.getColumn(i + 3));
      execute(insert);
    });
    transaction.commit();
  }

  /// Rows whose damaged values are replaced: runs, and sweeps, to which runs belong.
  void save_in_part(const char* name) {
    const CheckedTable* table = this->table(name);
    if (!table)
      return;
    SQLite::Transaction transaction(fresh_);
    scan(*table, [&](SQLite::Statement& row) { save_in_part(row, *table); });
    transaction.commit();
  }

  void save_in_part(SQLite::Statement& row, const CheckedTable& table) {
    const std::int64_t id = row.getColumn(0).getInt64();
    const auto damage = damage_of(row, 1, table);
    auto insert = prepare(fresh_, insert_text(table), id);
    for (int i = 0; i < static_cast<int>(table.columns.size()); ++i) {
      const std::string& column = table.columns[static_cast<std::size_t>(i)];
      const SQLite::Column value = row.getColumn(i + 3);
      const bool damaged = std::find(damage.begin(), damage.end(), column) != damage.end();
      if (column == "process" || (column == "sweep" && !has_row("sweep", value.getInt64())))
        insert.bind(i + 2); // nobody writes it
      else if (!damaged)
        bind_column(insert, i + 2, value);
      else
        bind_replacement(insert, i + 2, column);
    }
    execute(insert);
    if (!damage.empty())
      lost_.push_back(fmt::format("{} {}: {}", table.name, id, fmt::join(damage, ", ")));
  }

  static void bind_replacement(SQLite::Statement& insert, int index, const std::string& column) {
    if (const auto text = replacement(column))
      insert.bind(index, *text);
    else if (is_count(column))
      insert.bind(index, column == "workers" ? 1 : 0);
    else
      insert.bind(index);
  }

  bool has_row(const char* table, std::int64_t id) {
    return find_integer(fresh_, fmt::format("SELECT 1 FROM {} WHERE id = ?", table), id).has_value();
  }
  bool has_run(std::int64_t id) { return has_row("run", id); }

  void save_points() {
    const SavedPoints saved(old_);
    lost_.insert(lost_.end(), saved.lost().begin(), saved.lost().end());
    for (const std::int64_t run : saved.runs()) {
      SQLite::Transaction transaction(fresh_);
      if (!has_run(run))
        add_nameless(run);
      auto query = prepare(fresh_, run_query("run.id = ?"), run);
      query.executeStep();
      const RunRow row = read_run(query);
      query.reset();
      RunBuffer buffer(run, row.uid, NewRun{}, 1);
      for (const auto& frame : saved.of_run(run))
        add(buffer, run, frame);
      buffer.outcome = row.outcome;
      RecordWriter(fresh_).write(buffer);
      transaction.commit();
    }
  }

  /// A run of which only points are left.
  void add_nameless(std::int64_t run) {
    execute(fresh_,
            "INSERT INTO run (id, uid, name, status, reason, started, spec, start, steps, examples_seen, oom_events, "
            "peak_bytes) VALUES (?, ?, '', 'interrupted', '', '', '{}', '{}', 0, 0, 0, 0)",
            run, new_uid());
    lost_.push_back(fmt::format("run {}: everything but its points", run));
  }

  void add(RunBuffer& buffer, std::int64_t run, const SavedPoints::SavedFrame& frame) {
    bool whole = true;
    for (const auto& series : frame.series) {
      const auto there = std::count(series.there.begin(), series.there.end(), true);
      whole = whole && there == static_cast<std::int64_t>(frame.steps.size());
      if (there < series.stored)
        lost_.push_back(fmt::format("run {}: {} of {} points of the series {}", run, series.stored - there,
                                    series.stored, series.name));
    }
    if (whole)
      return add_whole(buffer, frame);
    for (const auto& series : frame.series) {
      std::vector<Point> points;
      for (std::size_t i = 0; i < series.values.size(); ++i)
        if (series.there[i])
          points.push_back({.step = frame.steps[i], .value = series.values[i]});
      buffer.add_series(series.name, points);
    }
  }

  static void add_whole(RunBuffer& buffer, const SavedPoints::SavedFrame& frame) {
    std::vector<std::string> names;
    std::vector<std::vector<double>> values;
    for (const auto& series : frame.series) {
      names.push_back(series.name);
      values.push_back(series.values);
    }
    buffer.add_frame(names, frame.steps, values);
  }

  SQLite::Database& old_;
  SQLite::Database& fresh_;
  const std::vector<CheckedTable> tables_;
  std::vector<std::string> lost_;
};

} // namespace

std::vector<std::string> rescue(SQLite::Database& old, SQLite::Database& fresh) {
  return Rescue(old, fresh).run();
}

} // namespace batchscope::store::detail
