#pragma once

#include <QSortFilterProxyModel>
#include <QStringList>

#include "core/store/list_filter.h"

namespace batchscope::ui {

class RunTableModel;

/// Sorts and filters the run table: numbers numerically, with NaN and missing values last in either direction; names
/// with embedded numbers in numeric order. UI thread.
class RunFilter : public QSortFilterProxyModel {
  Q_OBJECT

public:
  explicit RunFilter(RunTableModel& runs, QObject* parent = nullptr);

  /// Words that must all occur in a run's row, or, if the text contains a comparison, a filter of `list --where`. An
  /// invalid (incomplete) comparison leaves the rows unchanged: see error(). Resets the model, because removing many
  /// scattered rows one range after another takes far longer.
  void set_text(const QString& text);
  const QString& text() const { return text_; }
  /// The error of the comparison; empty if there is none.
  const QString& error() const { return error_; }
  bool filtering() const { return condition_ || !words_.isEmpty(); }

  RunTableModel& runs() const { return runs_; }

protected:
  bool filterAcceptsRow(int row, const QModelIndex& parent) const override;
  bool lessThan(const QModelIndex& left, const QModelIndex& right) const override;

private:
  RunTableModel& runs_;
  QString text_;
  QString error_;
  QStringList words_;          ///< in lower case
  store::RunFilter condition_; ///< empty: words only
};

} // namespace batchscope::ui
