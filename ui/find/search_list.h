#pragma once

#include "ui/find/known_search.h"
#include "ui/widgets/widgets.h"

class QGridLayout;
class QToolButton;

namespace batchscope::ui {

/// Searches that can be looked at again, a row each.
class SearchList : public Card {
  Q_OBJECT

public:
  /// `none` is said where there are no rows; empty: the card goes away then.
  SearchList(const QString& title, const QString& none, QWidget* parent = nullptr);

  /// The first `most_rows` of them, and how many more there are.
  void show_rows(const QList<SearchRow>& rows);

Q_SIGNALS:
  void chosen(const batchscope::ui::KnownSearch& search);

private:
  static constexpr qsizetype most_rows = 10;

  void make_rows();
  QToolButton* add_row(QGridLayout& grid, const SearchRow& row);

  QList<SearchRow> shown_;
  QWidget* rows_ = nullptr;
  QLabel* none_;
};

} // namespace batchscope::ui
