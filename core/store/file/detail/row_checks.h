#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include <SQLiteCpp/SQLiteCpp.h>

// Checksums of the rows that hold texts and numbers. A row's column `checks` has a CRC-32 for each of its checked
// values, which covers the value, its type, its column and the number of the row; so the damaged value is known, and
// values that changed their places are found. All functions throw SQLite::Exception.
namespace batchscope::store::detail {

/// A table whose rows have checksums.
struct CheckedTable {
  std::string name;
  std::vector<std::string> columns; ///< that are checked, in the order of the table; new ones come last
};

/// The tables of this database that have checksums.
std::vector<CheckedTable> checked_tables(SQLite::Database& database);

/// Makes the connection write the checksums of all rows that it changes, whatever changes them: with triggers of its
/// own, so that the change of a program that does not know the checksums is found as damage.
void maintain_checks(SQLite::Database& database);

/// Adds the checksums that rows do not have: after a migration, those of new columns. Existing ones are kept.
void add_missing_checks(SQLite::Database& database);

/// For a query of the table's rows: two columns, from which damage_of() tells whether the row is whole. The connection
/// needs add_check_function().
std::string check_columns(const CheckedTable& table);
void add_check_function(SQLite::Database& database);
/// The damaged columns of a row that a query has read with check_columns() at `at`; all of them if the row has no
/// checksums, empty if it is whole.
std::vector<std::string> damage_of(SQLite::Statement& row, int at, const CheckedTable& table);

/// A row that does not match its checksums.
struct DamagedRow {
  std::int64_t row = 0;
  std::vector<std::string> columns; ///< damaged ones; empty if the row has no checksums, or not as many as columns
};
std::vector<DamagedRow> damaged_rows(SQLite::Database& database, const CheckedTable& table);

} // namespace batchscope::store::detail
