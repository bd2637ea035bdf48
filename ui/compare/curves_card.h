#pragma once

#include <QJsonObject>
#include <QTimer>

#include <map>
#include <memory>
#include <set>

#include "ui/compare/comparison_view.h"
#include "ui/compare/curve_reader.h"
#include "ui/widgets/widgets.h"

class QComboBox;

namespace batchscope::ui {

class LinkedPlots;

/// One series of the compared runs over steps, examples or time: the emphasized runs in their colours, the others thin
/// behind them. Of many runs, those with the same settings are thin behind their mean. UI thread.
class CurvesCard : public Card {
  Q_OBJECT

public:
  CurvesCard(const Theme& theme, ComparisonView& view, const std::filesystem::path& database,
             QWidget* parent = nullptr);

  LinkedPlots& plots() { return *plots_; }
  QJsonObject state() const;
  void restore(const QJsonObject& state);

Q_SIGNALS:
  void problem(const QString& text); ///< a picture could not be written
  void saved(const QString& file);

private:
  void fill_series();
  void request_soon();
  void make_plots();
  void request();
  void draw();
  bool averages() const;
  std::set<std::size_t> draw_means();
  series::Axis axis() const;
  std::string over() const; ///< the series on the horizontal axis; empty: axis()
  std::string series() const;

  const Theme& theme_;
  ComparisonView& view_;
  CurveReader reader_;
  QTimer soon_; ///< while marks change quickly
  QComboBox* series_;
  QComboBox* axis_;
  ElidedLabel* note_;  ///< how they are drawn
  QString drawn_;      ///< how many of the runs, if not all
  bool bands_ = false; ///< intervals are drawn
  LinkedPlots* plots_ = nullptr;
  QString wanted_series_; ///< the user's choice, also while no run has it
  std::map<std::int64_t, std::shared_ptr<const PointsCurve>> curves_;
};

} // namespace batchscope::ui
