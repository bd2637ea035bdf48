#pragma once

#include <QString>

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <vector>

#include "core/compare/evidence.h"
#include "core/compare/runs.h"
#include "core/compare/table.h"

namespace batchscope::ui {

/// The value of a series at a step, as a column of a comparison.
struct SeriesAt {
  std::string series;
  std::int64_t step = 0;

  bool operator==(const SeriesAt&) const = default;
};

/// A run as it is read for a comparison.
struct ReadRun {
  compare::ComparedRun run;
  std::vector<store::SeriesSummary> series;
  std::vector<std::pair<SeriesAt, double>> values; ///< those of the requested ones that the run has
};

/// A column of a comparison.
struct CompareField {
  enum class Origin { setting, result, series };

  QString key; ///< `lr`, `result:peak_bytes`, `loss:min`, `loss@100`: for saved views
  QString title;
  Origin origin = Origin::setting;
  compare::Column column;      ///< values by run
  std::vector<double> numbers; ///< by run; NaN for none and for texts
  std::vector<int> ranks;      ///< by run: place of its value among the different ones in ascending order; -1 for none
  int different = 0;           ///< number of different values
  bool ordinal = false;        ///< its values are texts (or numbers and texts): they have an order and no distances

  /// As shown in a table: with its unit.
  QString text(std::size_t run) const;
  QString text_of(double value) const;
  /// On an axis, numbers are multiplied by this and have this unit; empty: none.
  double factor() const;
  QString unit() const;
  /// Whether larger values are better; nothing where neither is.
  std::optional<bool> larger_is_better() const;
  /// Whether several runs have a mean of it: numbers that training came to. The first batch was chosen.
  bool has_mean() const;
};

/// Runs beside each other, in columns. Immutable once made, so that threads can share it.
struct Comparison {
  compare::Comparison compared{{}};
  std::vector<CompareField> fields; ///< settings, results, series

  const std::vector<compare::ComparedRun>& runs() const { return compared.runs; }
  /// -1 if there is none.
  int field(const QString& key) const;
  QString run_name(std::size_t run) const;
  /// Summary of a field that has a mean, over those runs that count, see core/compare/evidence.h.
  compare::Summary summary(const CompareField& field, const std::vector<std::size_t>& of) const;
};

/// Any thread.
Comparison make_comparison(const std::vector<ReadRun>& runs);

/// Runs that a page treats as one: repeats, those with the same value of a field, or single ones.
struct RunGroups {
  QString field;                                ///< key of the field; `repeats`; empty: each run by itself
  std::vector<std::vector<std::size_t>> groups; ///< in ascending order of the field's values
};
RunGroups group_by(const Comparison& comparison, const QString& field);
/// Name of a group from the value that its runs share: `batch size 64`, or a run's name.
QString group_name(const Comparison& comparison, const RunGroups& groups, std::size_t group);

} // namespace batchscope::ui
