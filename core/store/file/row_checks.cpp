#include "core/store/file/detail/row_checks.h"

#include <algorithm>
#include <array>
#include <cstring>
#include <string_view>

#include <sqlite3.h>
#include <zlib.h>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "core/store/file/detail/sql.h"

namespace batchscope::store::detail {

namespace {

constexpr const char* checks_column = "checks";
constexpr std::size_t check_size = sizeof(std::uint32_t);

/// Numbers that are not part of what a reader gets, or that other checks cover: a series must match its points.
constexpr std::array<std::pair<std::string_view, std::string_view>, 6> not_checked{{{"run", "changed"},
                                                                                    {"series", "n"},
                                                                                    {"series", "last_step"},
                                                                                    {"series", "last"},
                                                                                    {"series", "min"},
                                                                                    {"series", "max"}}};

template <typename Value> std::uint32_t add(std::uint32_t crc, Value value) {
  return static_cast<std::uint32_t>(::crc32_z(crc, reinterpret_cast<const Bytef*>(&value), sizeof value));
}

std::uint32_t check_of(std::int64_t row, std::int32_t column, sqlite3_value* value) {
  const std::int32_t type = sqlite3_value_type(value);
  const std::uint32_t crc = add(add(add(0, row), column), type);
  switch (type) {
  case SQLITE_INTEGER:
    return add(crc, sqlite3_value_int64(value));
  case SQLITE_FLOAT:
    return add(crc, sqlite3_value_double(value));
  case SQLITE_NULL:
    return crc;
  default: {
    const void* bytes = sqlite3_value_blob(value); // of a text: its bytes
    const auto size = static_cast<std::size_t>(sqlite3_value_bytes(value));
    return size == 0 ? crc : static_cast<std::uint32_t>(::crc32_z(crc, static_cast<const Bytef*>(bytes), size));
  }
  }
}

/// The SQL function row_checks(known, row, value, ...): the checksums of the values, of which the first ones are taken
/// from `known`.
void row_checks(sqlite3_context* context, int count, sqlite3_value** values) {
  std::string checks;
  if (sqlite3_value_type(values[0]) == SQLITE_BLOB)
    checks.assign(static_cast<const char*>(sqlite3_value_blob(values[0])),
                  static_cast<std::size_t>(sqlite3_value_bytes(values[0])));
  constexpr int first_value = 2;
  const std::int64_t row = sqlite3_value_int64(values[1]);
  for (auto column = static_cast<int>(checks.size() / check_size); column < count - first_value; ++column) {
    const std::uint32_t check = check_of(row, column, values[column + first_value]);
    checks.append(reinterpret_cast<const char*>(&check), check_size);
  }
  sqlite3_result_blob(context, checks.data(), static_cast<int>(checks.size()), SQLITE_TRANSIENT);
}

/// The SQL function changed_checks(known, row, old value, new value, ...): `known`, the checksums of the old values,
/// with those of the values that differ computed anew. A value that was damaged before stays so, and a row without
/// checksums stays without.
void changed_checks(sqlite3_context* context, int count, sqlite3_value** values) {
  constexpr int first_value = 2;
  const auto columns = static_cast<std::size_t>((count - first_value) / 2);
  if (sqlite3_value_type(values[0]) != SQLITE_BLOB ||
      sqlite3_value_bytes(values[0]) != static_cast<int>(columns * check_size)) {
    sqlite3_result_value(context, values[0]);
    return;
  }
  std::string checks(static_cast<const char*>(sqlite3_value_blob(values[0])), columns * check_size);
  const std::int64_t row = sqlite3_value_int64(values[1]);
  for (std::size_t column = 0; column < columns; ++column) {
    sqlite3_value** pair = values + first_value + 2 * column;
    const auto number = static_cast<std::int32_t>(column);
    const std::uint32_t check = check_of(row, number, pair[1]);
    if (check != check_of(row, number, pair[0]))
      std::memcpy(checks.data() + column * check_size, &check, check_size);
  }
  sqlite3_result_blob(context, checks.data(), static_cast<int>(checks.size()), SQLITE_TRANSIENT);
}

bool is_checked(const std::string& table, const std::string& column, bool is_key) {
  return !is_key && column != checks_column &&
         std::find(not_checked.begin(), not_checked.end(),
                   std::pair<std::string_view, std::string_view>(table, column)) == not_checked.end();
}

/// `row_checks(KNOWN, PREFIXrowid, PREFIXname, ...)`.
std::string call(const CheckedTable& table, const std::string& known, const std::string& prefix) {
  std::string text = fmt::format("row_checks({}, {}rowid", known, prefix);
  for (const std::string& column : table.columns)
    text += fmt::format(", {}{}", prefix, column);
  return text + ')';
}

/// `changed_checks(OLD.checks, NEW.rowid, OLD.name, NEW.name, ...)`.
std::string call_for_changes(const CheckedTable& table) {
  std::string text = "changed_checks(OLD.checks, NEW.rowid";
  for (const std::string& column : table.columns)
    text += fmt::format(", OLD.{0}, NEW.{0}", column);
  return text + ')';
}

std::vector<std::string> differing(const CheckedTable& table, const SQLite::Column& stored,
                                   const SQLite::Column& right) {
  std::vector<std::string> columns;
  if (!stored.isBlob() || stored.getBytes() != right.getBytes())
    return columns;
  const auto* one = static_cast<const char*>(stored.getBlob());
  const auto* other = static_cast<const char*>(right.getBlob());
  for (std::size_t i = 0; i < table.columns.size(); ++i)
    if (std::memcmp(one + i * check_size, other + i * check_size, check_size) != 0)
      columns.push_back(table.columns[i]);
  return columns;
}

} // namespace

void add_check_function(SQLite::Database& database) {
  sqlite3_create_function_v2(database.getHandle(), "row_checks", -1, SQLITE_UTF8 | SQLITE_DETERMINISTIC, nullptr,
                             row_checks, nullptr, nullptr, nullptr);
  sqlite3_create_function_v2(database.getHandle(), "changed_checks", -1, SQLITE_UTF8 | SQLITE_DETERMINISTIC, nullptr,
                             changed_checks, nullptr, nullptr, nullptr);
}

std::string check_columns(const CheckedTable& table) {
  return "checks, " + call(table, "NULL", "");
}

std::vector<std::string> damage_of(SQLite::Statement& row, int at, const CheckedTable& table) {
  const SQLite::Column stored = row.getColumn(at);
  const SQLite::Column right = row.getColumn(at + 1);
  return stored.isBlob() && stored.getBytes() == right.getBytes() ? differing(table, stored, right) : table.columns;
}

std::vector<CheckedTable> checked_tables(SQLite::Database& database) {
  std::vector<CheckedTable> tables;
  auto query =
      prepare(database,
              "SELECT t.name, c.name, c.pk FROM sqlite_schema t JOIN pragma_table_info(t.name) c WHERE t.type = "
              "'table' AND EXISTS (SELECT 1 FROM pragma_table_info(t.name) WHERE name = ?) ORDER BY t.name, c.cid",
              checks_column);
  while (query.executeStep()) {
    const std::string table = query.getColumn(0);
    const std::string column = query.getColumn(1);
    if (tables.empty() || tables.back().name != table)
      tables.push_back({table, {}});
    if (is_checked(table, column, query.getColumn(2).getInt() != 0))
      tables.back().columns.push_back(column);
  }
  return tables;
}

void maintain_checks(SQLite::Database& database) {
  add_check_function(database);
  for (const CheckedTable& table : checked_tables(database)) {
    const auto update = [&](const std::string& checks) {
      return fmt::format("UPDATE {0} SET checks = {1} WHERE rowid = NEW.rowid;", table.name, checks);
    };
    database.exec(fmt::format("CREATE TEMP TRIGGER IF NOT EXISTS check_inserted_{0} AFTER INSERT ON main.{0} "
                              "BEGIN {1} END",
                              table.name, update(call(table, "NULL", "NEW."))));
    database.exec(fmt::format("CREATE TEMP TRIGGER IF NOT EXISTS check_updated_{0} AFTER UPDATE OF {1} ON main.{0} "
                              "BEGIN {2} END",
                              table.name, fmt::join(table.columns, ", "), update(call_for_changes(table))));
  }
}

void add_missing_checks(SQLite::Database& database) {
  add_check_function(database);
  for (const CheckedTable& table : checked_tables(database)) {
    execute(database,
            fmt::format("UPDATE {} SET checks = {} WHERE checks IS NULL OR length(checks) < ?", table.name,
                        call(table, "checks", "")),
            static_cast<std::int64_t>(table.columns.size() * check_size));
  }
}

std::vector<DamagedRow> damaged_rows(SQLite::Database& database, const CheckedTable& table) {
  add_check_function(database);
  std::vector<DamagedRow> rows;
  SQLite::Statement query(database, fmt::format("SELECT rowid, checks, {0} AS found FROM {1} WHERE checks IS NOT {0}",
                                                call(table, "NULL", ""), table.name));
  while (query.executeStep())
    rows.push_back({query.getColumn(0).getInt64(), differing(table, query.getColumn(1), query.getColumn(2))});
  return rows;
}

} // namespace batchscope::store::detail
