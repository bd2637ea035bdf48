#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include <SQLiteCpp/SQLiteCpp.h>

#include "core/store/run_fields.h"

namespace batchscope::store::detail {

/// The value as one of this type; nothing for the other type and for none.
std::optional<double> number_of(const ListValue& value);
std::optional<std::string> text_of(const ListValue& value);

/// Columns of a list of runs besides RunRow: settings and summaries of series, by name, see RunReader::table(). Within
/// the caller's transaction. Throws SQLite::Exception.
class ListColumns {
public:
  explicit ListColumns(SQLite::Database& database) : database_(database) {}

  /// Index in RunRow::more; nothing if no run has a setting or series of this name.
  std::optional<std::size_t> find(const std::string& name);
  /// The names that find() accepts, to follow those of run_fields() in a message.
  std::string accepted() const;
  /// A field of run_fields(), or one that reads RunRow::more; throws Error (input), naming `option`.
  RunField field(const std::string& name, const std::string& option);

  /// To follow the columns of a query of runs, and binds their parameters.
  std::string expressions() const;
  void bind(SQLite::Statement& query) const;
  /// From the columns `first` and following.
  std::vector<ListValue> read(SQLite::Statement& query, int first) const;

private:
  struct Column {
    std::string name;
    std::string summary;   ///< column of a series' summary; empty for a setting
    std::string parameter; ///< path of the setting, or name of the series
    std::string from;      ///< of a setting: the JSON that has it, `valid` (the spec) or `valid_start`
  };
  std::optional<Column> look_up(const std::string& name) const;
  bool any(const std::string& query, const std::string& parameter) const;

  SQLite::Database& database_;
  std::vector<Column> columns_;
};

} // namespace batchscope::store::detail
