#pragma once

#include <QString>

#include <optional>
#include <string>
#include <vector>

#include "core/store/run_store.h"

namespace batchscope::ui {

/// Places of columns in run_columns().
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
  oom_column,
  seconds_column,
  started_column,
  sweep_column,
  note_column,
};

/// One column of the table of runs: what it is called, and how a run's value is sorted, shown and copied.
struct RunColumn {
  const char* key;   ///< in settings and in copied text
  const char* title; ///< untranslated, with the unit; see column_title()
  const char* help;  ///< untranslated
  int characters;    ///< width to begin with, of the values; the title has room in any case
  bool shown;        ///< until the user says otherwise
  bool dimmed;       ///< secondary
  /// Null for a text. No value: the run has none. In the unit that the key names and the store has: bytes, a share
  /// from 0 to 1, seconds; shown_text() may have another one, which the title names.
  std::optional<double> (*number)(const store::RunRow&);
  /// Null for a number.
  const std::string& (*text)(const store::RunRow&);
  /// For people, in the user's locale; empty where there is no value.
  QString (*shown_text)(const store::RunRow&);
};

/// All of them in their first order.
const std::vector<RunColumn>& run_columns();
/// Index into run_columns(); -1 where no column has the key.
int run_column(const QString& key);
QString column_title(const RunColumn& column);
QString column_help(const RunColumn& column);

/// The value without loss and in the unit of its key, for other programs: points as decimals, NaN and infinities by
/// name.
QString copied_text(const RunColumn& column, const store::RunRow& run);

} // namespace batchscope::ui
