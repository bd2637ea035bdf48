#pragma once

#include <QJsonArray>
#include <QList>
#include <QString>

#include <optional>
#include <utility>
#include <vector>

#include "ui/compare/comparison_view.h"
#include "ui/compare/field_axis.h"

namespace batchscope::ui {

/// The axes of parallel coordinates: which fields in which order, their scales, and what is brushed on them. Until the
/// user changes the axes they follow the comparison: settings and results that differ. No painting. UI thread.
class ParallelAxes {
public:
  /// Place of the lane for runs without a value, below the axis.
  static constexpr double missing_place = -0.12;
  static constexpr int most_by_default = 9;

  struct Axis {
    FieldAxis axis;
    std::vector<float> places;                      ///< by visible run: 0..1, or missing_place
    std::optional<std::pair<double, double>> brush; ///< from and to, as places
  };

  /// Builds the axes from what the view shows now.
  void rebuild(const ComparisonView& view);
  const std::vector<Axis>& axes() const { return axes_; }
  bool has_missing() const { return has_missing_; }

  // Changes by the user; call rebuild() after those that return true.
  bool move(int from, int to);
  bool remove(int axis);
  bool add(const QString& key);
  bool set_log(int axis, bool log);
  bool flip(int axis);
  bool reset(); ///< to the fields and scales of the comparison
  void brush(int axis, const std::optional<std::pair<double, double>>& range);
  void clear_brushes();
  bool brushed() const;
  /// The visible runs that lie in all brushes.
  std::vector<std::size_t> inside(const ComparisonView& view) const;

  /// Fields, order, scales; not the brushes.
  QJsonArray state() const;
  void restore(const QJsonArray& state);

private:
  struct Chosen {
    QString key;
    FieldAxis::Scale scale = FieldAxis::Scale::automatic;
    bool flipped = false;
  };
  static QList<Chosen> by_default(const ComparisonView& view);
  /// Takes over the shown axes as the user's choice.
  void choose();

  QList<Chosen> chosen_; ///< as the user wants them
  bool by_user_ = false;
  std::vector<Axis> axes_;
  bool has_missing_ = false;
};

} // namespace batchscope::ui
