#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include <SQLiteCpp/SQLiteCpp.h>

namespace batchscope::store::detail {

/// A blob to be bound; an empty one stays a blob (SQLite would make it NULL).
struct Bytes {
  const void* data;
  std::size_t size;
};

/// Binds a value to a parameter; an optional without one is NULL. Real numbers are for columns of type ANY: NaN becomes
/// the text 'NaN', because SQLite would store it as NULL.
template <typename Value> void bind_value(SQLite::Statement& statement, int index, const Value& value) {
  statement.bind(index, value);
}
void bind_value(SQLite::Statement& statement, int index, double value);
void bind_value(SQLite::Statement& statement, int index, const Bytes& value);
template <typename Value> void bind_value(SQLite::Statement& statement, int index, const std::optional<Value>& value) {
  if (value)
    bind_value(statement, index, *value);
  else
    statement.bind(index);
}

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

/// Binds the values to the parameters ?1, ?2, ... of a statement.
template <typename... Values> void bind_values(SQLite::Statement& statement, const Values&... values) {
  [[maybe_unused]] int index = 0;
  (bind_value(statement, ++index, values), ...);
}

/// A statement with its values.
template <typename... Values>
SQLite::Statement prepare(const SQLite::Database& database, const std::string& text, const Values&... values) {
  SQLite::Statement statement(database, text);
  bind_values(statement, values...);
  return statement;
}

/// Executes a prepared statement and resets it, also after an exception. Returns the number of changed rows.
template <typename... Values> int execute(SQLite::Statement& statement, const Values&... values) {
  const ResetAtEnd reset(statement);
  bind_values(statement, values...);
  return statement.exec();
}
/// The same for a statement that is executed once.
template <typename... Values>
int execute(const SQLite::Database& database, const std::string& text, const Values&... values) {
  return prepare(database, text, values...).exec();
}

/// The integer in the first row of a query; nothing if there is no row, or NULL in it.
template <typename... Values>
std::optional<std::int64_t> find_integer(const SQLite::Database& database, const std::string& text,
                                         const Values&... values) {
  SQLite::Statement query = prepare(database, text, values...);
  return query.executeStep() ? optional_integer(query.getColumn(0)) : std::nullopt;
}
/// The integers in the first column of all rows of a query.
template <typename... Values>
std::vector<std::int64_t> find_integers(const SQLite::Database& database, const std::string& text,
                                        const Values&... values) {
  SQLite::Statement query = prepare(database, text, values...);
  std::vector<std::int64_t> found;
  while (query.executeStep())
    found.push_back(query.getColumn(0).getInt64());
  return found;
}

} // namespace batchscope::store::detail
