#pragma once

#include <QString>

#include <cmath>
#include <optional>
#include <vector>

#include "ui/compare/comparison_columns.h"
#include "ui/plot/ticks.h"

namespace batchscope::ui {

/// A field as an axis: its values as places from 0 (the smallest of the shown runs) to 1. A plain value; copies what it
/// needs of the field.
class FieldAxis {
public:
  enum class Scale { automatic, linear, log };

  /// `runs`: those whose values span the axis.
  FieldAxis(const CompareField& field, const std::vector<std::size_t>& runs, Scale scale, bool flipped);

  /// Nothing if the run has no (finite) value; also for values below or equal to 0 on a logarithmic axis.
  std::optional<double> place(std::size_t run) const;
  /// Place of any number.
  double place_of(double value) const;
  const QString& name() const { return name_; } ///< `peak memory`
  QString title() const;                        ///< `peak memory (MB)`
  const QString& key() const { return key_; }
  bool log() const { return log_; }
  bool can_be_log() const { return can_be_log_; }
  bool flipped() const { return flipped_; }
  /// Places and labels.
  Ticks ticks(int most) const;
  QString low_label() const; ///< of the places 0 and 1, with the unit
  QString high_label() const;
  /// Makes it reach to this number, if that has a place on it.
  void include(double value);
  /// Makes room of this fraction of the axis at both ends, or of half a place of an ordinal field.
  void widen(double fraction);

private:
  double position(double value) const { return log_ ? std::log10(value) : value; }
  QString label(double value) const;
  double value_at_end(bool high) const;
  QString end_label(bool high) const;

  QString key_, name_, unit_;
  std::vector<double> values_; ///< by run: numbers times the unit's factor, or ranks of an ordinal field
  bool ordinal_ = false;
  bool log_ = false;
  bool can_be_log_ = false;
  bool flipped_ = false;
  double from_ = 0, to_ = 1;    ///< of the positions
  std::vector<QString> labels_; ///< of the ranks of an ordinal field
};

} // namespace batchscope::ui
