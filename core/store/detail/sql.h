#pragma once

#include <optional>
#include <string>

#include <SQLiteCpp/SQLiteCpp.h>

namespace batchscope::store::detail {

/// A real number in a column of type ANY: SQLite would store NaN as NULL, so it is the text 'NaN'.
void bind_real(SQLite::Statement& statement, int index, double value);
void bind_real(SQLite::Statement& statement, int index, const std::optional<double>& value);
void bind_integer(SQLite::Statement& statement, int index, const std::optional<std::int64_t>& value);
/// Bytes, also none at all (which SQLite would take for NULL).
void bind_bytes(SQLite::Statement& statement, int index, const void* data, std::size_t size);

/// The way back; NULL and anything that is no number is NaN, or nothing.
double real(const SQLite::Column& column);
std::optional<double> optional_real(const SQLite::Column& column);
std::optional<std::int64_t> optional_integer(const SQLite::Column& column);

/// Makes a prepared statement ready for the next values at the end of its use, whatever became of it; until then a
/// query would keep the database as it was when it began.
class ResetAtEnd {
public:
  explicit ResetAtEnd(SQLite::Statement& statement) : statement_(statement) {}
  ~ResetAtEnd() { statement_.tryReset(); }
  ResetAtEnd(const ResetAtEnd&) = delete;
  ResetAtEnd& operator=(const ResetAtEnd&) = delete;

private:
  SQLite::Statement& statement_;
};

/// Runs a prepared statement and makes it ready for the next values, whatever became of it.
void execute(SQLite::Statement& statement);

/// Now, in UTC, as ISO 8601 with seconds: 2026-01-31T12:00:00Z.
std::string utc_now();

} // namespace batchscope::store::detail
