#pragma once

#include <QWidget>

#include "ui/live/live_curves.h"

class QGridLayout;
class QLabel;

namespace batchscope::ui {

class Card;
class FactList;
class RunsReading;

/// What the curves are worth at one place. UI thread.
class ReadingCard : public QWidget {
  Q_OBJECT

public:
  explicit ReadingCard(const Theme& theme, QWidget* parent = nullptr);

  /// At `x` (each at its end where there is none); changes only what has become another text.
  void show_at(const QString& title, const std::vector<LiveCurve>& curves, std::optional<double> x,
               std::optional<double> limit_bytes = std::nullopt);

private:
  const Theme& theme_;
  Card* card_;
  RunsReading* runs_; ///< a row each, of several
  FactList* facts_;   ///< all else
  QString shown_;     ///< of the facts, to tell whether anything changed
};

/// What the curves came to between two places: difference, smallest, mean, greatest. UI thread.
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
