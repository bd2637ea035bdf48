#pragma once

#include <QSortFilterProxyModel>
#include <QStringList>

#include "core/store/list_filter.h"

namespace batchscope::ui {

class RunTableModel;

/// Sorts and filters the table of runs: numbers as numbers with NaN and missing ones last in either direction, names
/// with their numbers in order. UI thread.
class RunFilter : public QSortFilterProxyModel {
  Q_OBJECT

public:
  explicit RunFilter(RunTableModel& runs, QObject* parent = nullptr);

  /// Words that all have to occur somewhere in a run's row, or, where there is a comparison in it, the language of
  /// `list --where`. A comparison that cannot be read (yet) leaves what is shown as it is: see error().
  void set_text(const QString& text);
  const QString& text() const { return text_; }
  /// What is wrong with the comparison; empty when nothing is.
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
