#pragma once

#include <cstdint>
#include <optional>

#include <SQLiteCpp/SQLiteCpp.h>

namespace batchscope::store::detail {

/// Binds a real number to a column of type ANY. NaN becomes the text 'NaN', because SQLite would store it as NULL.
void bind_real(SQLite::Statement& statement, int index, double value);
void bind_real(SQLite::Statement& statement, int index, const std::optional<double>& value);
void bind_integer(SQLite::Statement& statement, int index, const std::optional<std::int64_t>& value);
/// Binds bytes; an empty blob stays a blob (SQLite would make it NULL).
void bind_bytes(SQLite::Statement& statement, int index, const void* data, std::size_t size);

/// The inverse; NULL and anything that is not a number gives NaN, or nothing.
double real(const SQLite::Column& column);
std::optional<double> optional_real(const SQLite::Column& column);
std::optional<std::int64_t> optional_integer(const SQLite::Column& column);

/// Resets a prepared statement when it goes out of scope, also after an exception. An active query would keep its
/// snapshot of the database.
class ResetAtEnd {
public:
  explicit ResetAtEnd(SQLite::Statement& statement) : statement_(statement) {}
  ~ResetAtEnd() { statement_.tryReset(); }
  ResetAtEnd(const ResetAtEnd&) = delete;
  ResetAtEnd& operator=(const ResetAtEnd&) = delete;

private:
  SQLite::Statement& statement_;
};

/// Executes a prepared statement and resets it, also after an exception.
void execute(SQLite::Statement& statement);

} // namespace batchscope::store::detail
