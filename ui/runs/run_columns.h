#pragma once

#include <QString>

#include <optional>
#include <string>
#include <vector>

#include "core/store/run_store.h"

namespace batchscope::ui {

/// Indices into run_columns().
enum RunColumnIndex : int {
  id_column,
  name_column,
  status_column,
  batch_column,
  steps_column,
  epoch_column,
  loss_column,
  validation_loss_column,
  accuracy_column,
  peak_column,
  rate_column,
  disturbed_column,
  oom_column,
  seconds_column,
  started_column,
  sweep_column,
  model_column,
  data_column,
  schedule_column,
  optimizer_column,
  learning_rate_column,
  tags_column,
  note_column,
};

/// A column of the run table: its name, and how a run's value is sorted, shown and copied.
struct RunColumn {
  const char* key;   ///< in settings and in copied text
  const char* title; ///< untranslated, with the unit; see column_title()
  const char* help;  ///< tooltip, untranslated
  int characters;    ///< initial width for the values; the title always fits
  bool shown;        ///< shown by default
  bool dimmed;       ///< secondary
  /// Null for a text column. No value: the run has none. In the unit of the key, as stored: bytes, a fraction 0..1,
  /// seconds; shown_text() may use another unit, which the title names.
  std::optional<double> (*number)(const store::RunRow&);
  /// Null for a number column.
  std::string (*text)(const store::RunRow&);
  /// For display, in the user's locale; empty if there is no value.
  QString (*shown_text)(const store::RunRow&);
};

/// All columns in their default order.
const std::vector<RunColumn>& run_columns();
/// Index into run_columns(); -1 if no column has the key.
int run_column(const QString& key);
QString column_title(const RunColumn& column);
QString column_help(const RunColumn& column);

/// The exact value in the unit of its key, for other programs: with a decimal point; NaN and infinities by name.
QString copied_text(const RunColumn& column, const store::RunRow& run);

} // namespace batchscope::ui
