#include "ui/find/search_list.h"

#include <QGridLayout>
#include <QToolButton>

#include <algorithm>

#include "ui/theme/theme.h"
#include "ui/widgets/format.h"

namespace batchscope::ui {

SearchList::SearchList(const QString& title, const QString& none, QWidget* parent)
    : Card(title, parent), none_(dimmed_label(none, this)) {
  none_->setWordWrap(true);
  body()->addWidget(none_);
  setVisible(!none.isEmpty());
}

void SearchList::show_rows(const QList<SearchRow>& rows) {
  if (rows_ != nullptr && rows == shown_)
    return;
  shown_ = rows;
  make_rows();
  setVisible(!rows.isEmpty() || !none_->text().isEmpty());
}

void SearchList::make_rows() {
  const bool keyboard_here = rows_ != nullptr && rows_->isAncestorOf(window()->focusWidget());
  delete rows_;
  rows_ = new QWidget(this);
  auto* grid = new QGridLayout(rows_);
  grid->setContentsMargins(0, 0, 0, 0);
  grid->setColumnStretch(1, 1);
  grid->setHorizontalSpacing(Theme::lines(0.5));
  grid->setVerticalSpacing(Theme::lines(0.25));
  QToolButton* first = nullptr;
  for (const SearchRow& row : shown_.first(std::min(shown_.size(), max_rows))) {
    QToolButton* name = add_row(*grid, row);
    first = first != nullptr ? first : name;
  }
  if (const qsizetype more = shown_.size() - max_rows; more > 0)
    grid->addWidget(dimmed_label(tr("and %1 older ones").arg(format_count(more)), rows_), grid->rowCount(), 0, 1, 3);
  body()->addWidget(rows_);
  rows_->setVisible(first != nullptr);
  none_->setVisible(first == nullptr);
  if (keyboard_here && first != nullptr)
    first->setFocus();
}

QToolButton* SearchList::add_row(QGridLayout& grid, const SearchRow& row) {
  const int number = grid.rowCount();
  auto* name = new QToolButton(rows_);
  name->setText(row.name);
  name->setObjectName(QStringLiteral("search"));
  name->setToolTip(row.tip);
  // This deletes the row, which must not happen within its own event.
  connect(
      name, &QToolButton::clicked, this, [this, search = row.search] { Q_EMIT chosen(search); }, Qt::QueuedConnection);
  auto* text = dimmed_label(row.text, rows_);
  text->setWordWrap(true);
  auto* value = new QLabel(row.value, rows_);
  value->setProperty("kind", QStringLiteral("value"));
  value->setToolTip(row.tip);
  grid.addWidget(name, number, 0, Qt::AlignLeft | Qt::AlignTop);
  grid.addWidget(text, number, 1);
  grid.addWidget(value, number, 2, Qt::AlignRight | Qt::AlignTop);
  return name;
}

} // namespace batchscope::ui

#include "moc_search_list.cpp"
