#pragma once

#include <QFont>
#include <QWidget>

#include <optional>

#include "ui/live/live_curves.h"

class QGridLayout;
class QLabel;

namespace batchscope::ui {

/// The values of the curves of several runs, one row per run. UI thread.
class RunsReading : public QWidget {
  Q_OBJECT

public:
  explicit RunsReading(const Theme& theme, QWidget* parent = nullptr);

  /// Shows the values at `x`, or the last ones, of curves that belong to one run. Hidden if there are none.
  void show_at(const std::vector<LiveCurve>& curves, std::optional<double> x);

private:
  enum Column { peak, loss, validation, batch, column_count };
  struct Row {
    QLabel* sample = nullptr;
    QLabel* name = nullptr;
    QLabel* values[column_count] = {};
    int look = -1; ///< look of the sample
    bool dark = false;
  };
  static Column column_of(const LiveCurve& curve);
  Row& row(int number);
  void show_sample(Row& row, int look);

  const Theme& theme_;
  QGridLayout* grid_;
  QFont font_;
  QList<Row> rows_; ///< reused: values change many times a second
};

} // namespace batchscope::ui
