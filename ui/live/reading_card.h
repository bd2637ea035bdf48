#pragma once

#include <QWidget>

#include "ui/live/live_curves.h"
#include "ui/widgets/widgets.h"

class QGridLayout;
class QLabel;

namespace batchscope::ui {

class RunsReading;

/// The values of the curves at one x. UI thread.
class ReadingCard : public QWidget {
  Q_OBJECT

public:
  explicit ReadingCard(const Theme& theme, QWidget* parent = nullptr);

  /// Shows the values at `x` (without it, the last value of each curve); updates only texts that differ.
  void show_at(const QString& title, const std::vector<LiveCurve>& curves, std::optional<double> x,
               std::optional<double> limit_bytes = std::nullopt);

  /// Shows facts of a run instead.
  void show_facts(const QString& title, const QList<FactList::Fact>& facts);

private:
  void set(const QString& title, const QList<FactList::Fact>& facts);

  const Theme& theme_;
  Card* card_;
  RunsReading* runs_; ///< one row per run, if there are several
  FactList* facts_;   ///< all other values
  QString shown_;     ///< current text of title and facts, to detect changes
};

/// Difference, minimum, mean and maximum of the curves between two places. UI thread.
class BetweenCard : public QWidget {
  Q_OBJECT

public:
  explicit BetweenCard(const Theme& theme, QWidget* parent = nullptr);

  void show_between(const QString& title, const std::vector<LiveCurve>& curves, double from, double to);

private:
  QLabel* cell(int row, int column);
  void set_cell(int row, int column, const QString& text);

  const Theme& theme_;
  Card* card_;
  QGridLayout* grid_;
  QFont grid_font_;
  QList<QLabel*> cells_; ///< row by row
};

} // namespace batchscope::ui
