#pragma once

#include "ui/find/known_search.h"
#include "ui/widgets/widgets.h"

class QGridLayout;
class QToolButton;

namespace batchscope::ui {

/// A list of searches to open again, one row each.
class SearchList : public Card {
  Q_OBJECT

public:
  /// `none` is shown if there are no rows; if it is empty, the card is hidden instead.
  SearchList(const QString& title, const QString& none, QWidget* parent = nullptr);

  /// Shows the first `max_rows` rows, and how many more there are.
  void show_rows(const QList<SearchRow>& rows);

Q_SIGNALS:
  void chosen(const batchscope::ui::KnownSearch& search);

private:
  static constexpr qsizetype max_rows = 10;

  void make_rows();
  QToolButton* add_row(QGridLayout& grid, const SearchRow& row);

  QList<SearchRow> shown_;
  QWidget* rows_ = nullptr;
  QLabel* none_;
};

} // namespace batchscope::ui
