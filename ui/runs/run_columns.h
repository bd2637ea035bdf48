#pragma once

#include <QString>

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "core/store/run_row.h"

namespace batchscope::ui {

/// A column of the run table: its name, and how a run's value is sorted, shown and copied.
struct RunColumn {
  const char* key;       ///< in settings and in copied text
  const char* title;     ///< untranslated, without the unit; see column_title()
  const char* help;      ///< tooltip, untranslated
  int characters;        ///< initial width for the values; the title always fits
  bool shown;            ///< shown by default
  bool dimmed;           ///< secondary
  const char* unit = ""; ///< of shown_text()
  /// Empty for a text column. No value: the run has none. In the unit of the key, as stored: bytes, a fraction 0..1,
  /// seconds; shown_text() may use another unit, which the title names.
  std::function<std::optional<double>(const store::RunRow&)> number{};
  /// Empty for a number column.
  std::function<std::string(const store::RunRow&)> text{};
  /// For display, in the user's locale; empty if there is no value.
  std::function<QString(const store::RunRow&)> shown_text{};
};

/// All columns in their default order.
const std::vector<RunColumn>& run_columns();
/// Index into run_columns(); -1 if no column has the key.
int run_column(const QString& key);

/// Indices into run_columns(): those before the results, and the note, which is the last.
inline constexpr int id_column = 0, name_column = 1, status_column = 2;
int note_column();
QString column_title(const RunColumn& column); ///< with the unit: `Peak MB`
QString column_help(const RunColumn& column);

/// The exact value in the unit of its key, for other programs: with a decimal point; NaN and infinities by name.
QString copied_text(const RunColumn& column, const store::RunRow& run);

} // namespace batchscope::ui
