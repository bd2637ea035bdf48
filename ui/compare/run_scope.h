#pragma once

#include <QJsonObject>
#include <QString>

#include <functional>
#include <optional>
#include <vector>

#include "core/store/run_row.h"
#include "ui/compare/comparison_columns.h"

namespace batchscope::ui {

/// Which runs of the database are compared: all, a sweep's, or chosen ones. A plain value.
struct RunScope {
  enum class Kind { all, sweep, chosen };
  Kind kind = Kind::all;
  std::int64_t sweep = 0;
  std::vector<std::int64_t> runs; ///< of chosen

  bool operator==(const RunScope&) const = default;
  bool contains(const store::RunRow& row) const;
  QJsonObject state() const;
  static RunScope from(const QJsonObject& state);
};

/// A filter over all fields of a comparison (filter::parse_condition()), or words that a run's texts must contain if
/// the text has no comparison in it.
class CompareFilter {
public:
  /// Throws Error (input) for a comparison that is not valid.
  CompareFilter(const Comparison& comparison, const QString& text);
  struct Selection {
    std::vector<std::size_t> runs; ///< that it leaves, ascending
    QString result;                ///< title of one that they are selected by: their means are biased; empty: none
  };
  Selection apply() const;
  /// Names that it accepts, for help.
  static QStringList fields(const Comparison& comparison);

private:
  const Comparison& comparison_;
  std::function<bool(std::size_t, QString& result)> accepts_;
};

} // namespace batchscope::ui
