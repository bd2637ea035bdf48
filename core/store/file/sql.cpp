#include "core/store/file/detail/sql.h"

#include <cmath>
#include <limits>

namespace batchscope::store::detail {

void bind_real(SQLite::Statement& statement, int index, double value) {
  if (std::isnan(value))
    statement.bind(index, "NaN");
  else
    statement.bind(index, value);
}

void bind_real(SQLite::Statement& statement, int index, const std::optional<double>& value) {
  if (value)
    bind_real(statement, index, *value);
  else
    statement.bind(index);
}

void bind_integer(SQLite::Statement& statement, int index, const std::optional<std::int64_t>& value) {
  if (value)
    statement.bind(index, *value);
  else
    statement.bind(index);
}

void bind_bytes(SQLite::Statement& statement, int index, const void* data, std::size_t size) {
  statement.bind(index, size == 0 ? "" : data, static_cast<int>(size));
}

double real(const SQLite::Column& column) {
  return column.isFloat() || column.isInteger() ? column.getDouble() : std::numeric_limits<double>::quiet_NaN();
}

std::optional<double> optional_real(const SQLite::Column& column) {
  return column.isNull() ? std::nullopt : std::optional(real(column));
}

std::optional<std::int64_t> optional_integer(const SQLite::Column& column) {
  return column.isNull() ? std::nullopt : std::optional<std::int64_t>(column.getInt64());
}

void execute(SQLite::Statement& statement) {
  const ResetAtEnd reset(statement);
  statement.exec();
}

} // namespace batchscope::store::detail
