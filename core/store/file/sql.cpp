#include "core/store/file/detail/sql.h"

#include <cmath>
#include <limits>

namespace batchscope::store::detail {

void bind_value(SQLite::Statement& statement, int index, double value) {
  if (std::isnan(value))
    statement.bind(index, "NaN");
  else
    statement.bind(index, value);
}

void bind_value(SQLite::Statement& statement, int index, const Bytes& value) {
  statement.bind(index, value.size == 0 ? "" : value.data, static_cast<int>(value.size));
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

} // namespace batchscope::store::detail
