#include "ui/sweep/sweep_table.h"

#include <QHeaderView>
#include <QMouseEvent>
#include <QPainter>
#include <QSortFilterProxyModel>

#include <algorithm>

#include "ui/widgets/widgets.h"

namespace batchscope::ui {

namespace {

constexpr double title_room = 1.7; ///< around a title, lines of text
constexpr double word_gap = 0.9;   ///< lines of text between the words of a row

/// The rows in the order of a column; those without a value last, whatever the direction.
class SortedRuns : public QSortFilterProxyModel {
public:
  using QSortFilterProxyModel::QSortFilterProxyModel;

protected:
  bool lessThan(const QModelIndex& left, const QModelIndex& right) const override {
    const QVariant one = left.data(SweepRunModel::sort_role), other = right.data(SweepRunModel::sort_role);
    if (one.isValid() != other.isValid())
      return (sortOrder() == Qt::AscendingOrder) == one.isValid();
    if (!one.isValid())
      return false;
    return QPartialOrdering::Less == QVariant::compare(one, other);
  }
};

/// Words of a row, of which each can be clicked.
class RowWords : public RowDelegate {
public:
  using Clicked = std::function<void(const QModelIndex&, int word)>;
  RowWords(const Theme& theme, Clicked clicked, QObject* parent)
      : RowDelegate(theme, parent), clicked_(std::move(clicked)) {}

  void paint(QPainter* painter, const QStyleOptionViewItem& option, const QModelIndex& index) const override {
    RowDelegate::paint(painter, option, index);
    const QStringList words = index.data(SweepRunModel::actions_role).toStringList();
    const auto places = places_of(words, option);
    painter->setPen(theme_.color(Role::accent));
    painter->setFont(option.font);
    for (qsizetype i = 0; i < words.size(); ++i)
      painter->drawText(places[i], Qt::AlignCenter, words[i]);
  }

protected:
  bool editorEvent(QEvent* event, QAbstractItemModel* /*model*/, const QStyleOptionViewItem& option,
                   const QModelIndex& index) override {
    if (event->type() != QEvent::MouseButtonRelease)
      return false;
    const auto* mouse = static_cast<QMouseEvent*>(event);
    const auto places = places_of(index.data(SweepRunModel::actions_role).toStringList(), option);
    for (qsizetype i = 0; i < places.size(); ++i)
      if (mouse->button() == Qt::LeftButton && places[i].contains(mouse->position().toPoint()))
        clicked_(index, static_cast<int>(i));
    return false;
  }

private:
  static QList<QRect> places_of(const QStringList& words, const QStyleOptionViewItem& option) {
    QList<QRect> places;
    int x = option.rect.left() + Theme::lines(0.4);
    for (const QString& word : words) {
      const int width = option.fontMetrics.horizontalAdvance(word) + Theme::lines(word_gap);
      places << QRect(x, option.rect.top(), width, option.rect.height());
      x += width;
    }
    return places;
  }

  const Clicked clicked_;
};

} // namespace

SweepTable::SweepTable(const Theme& theme, QWidget* parent)
    : QTableView(parent), theme_(theme), model_(new SweepRunModel(theme, this)), sorted_(new SortedRuns(this)) {
  sorted_->setSourceModel(model_);
  setModel(sorted_);
  setItemDelegate(new RowDelegate(theme, this));
  prepare_table(*this);
  setSelectionMode(ExtendedSelection);
  setEditTriggers(NoEditTriggers);
  setContextMenuPolicy(Qt::ActionsContextMenu);
  setAccessibleName(tr("Runs of the sweep"));
  setSortingEnabled(true);
  horizontalHeader()->setStretchLastSection(true);
  horizontalHeader()->setSortIndicatorClearable(true);
  reset_order();
  connect(selectionModel(), &QItemSelectionModel::selectionChanged, this, [this] {
    if (!choosing_)
      Q_EMIT choice_changed();
  });
  connect(this, &QTableView::doubleClicked, this,
          [this](const QModelIndex& index) { Q_EMIT opened(model_->entry(sorted_->mapToSource(index).row())); });
  connect(model_, &QAbstractItemModel::modelReset, this, &SweepTable::fit_columns);
  connect(model_, &QAbstractItemModel::headerDataChanged, this, &SweepTable::fit_columns);
}

void SweepTable::reset_order() {
  sortByColumn(-1, Qt::AscendingOrder);
}

void SweepTable::show_sweep(const SweepView& view, Metric metric) {
  model_->show_sweep(view, metric);
}

/// As wide as the texts need that a column may come to have.
void SweepTable::fit_columns() {
  const QFontMetrics metrics(font());
  QFont bold = horizontalHeader()->font();
  bold.setWeight(QFont::DemiBold);
  const QFontMetrics title(bold);
  for (int column = 0; column < model_->columnCount(); ++column) {
    int width = title.horizontalAdvance(model_->headerData(column, Qt::Horizontal, Qt::DisplayRole).toString());
    const auto kind = model_->column(column);
    if (kind == SweepRunModel::Column::status)
      width = std::max(width, metrics.horizontalAdvance(tr("ended early")));
    if (kind == SweepRunModel::Column::time)
      width = std::max(width, metrics.horizontalAdvance(QStringLiteral("999 ms")));
    const int rows = std::min(model_->rowCount(), 100);
    for (int row = 0; row < rows; ++row)
      width = std::max(width, metrics.horizontalAdvance(model_->index(row, column).data().toString()));
    setColumnWidth(column, width + Theme::lines(title_room));
    setItemDelegateForColumn(column, nullptr);
    if (kind == SweepRunModel::Column::actions) {
      delete findChild<QObject*>(QStringLiteral("row_words"));
      auto* words = new RowWords(
          theme_, [this](const QModelIndex& index, int word) { act(index, word); }, this);
      words->setObjectName(QStringLiteral("row_words"));
      setItemDelegateForColumn(column, words);
    }
  }
}

void SweepTable::act(const QModelIndex& index, int word) {
  const std::size_t entry = model_->entry(sorted_->mapToSource(index).row());
  if (model_->view().runs[entry].stage == RunStage::running)
    Q_EMIT stop_wanted(entry);
  else if (word < 2)
    Q_EMIT move_wanted(entry, word == 0);
  else
    Q_EMIT skip_wanted(entry);
}

std::vector<std::size_t> SweepTable::chosen() const {
  std::vector<std::size_t> entries;
  for (const QModelIndex& row : selectionModel()->selectedRows())
    entries.push_back(model_->entry(sorted_->mapToSource(row).row()));
  return entries;
}

void SweepTable::choose(const std::vector<std::size_t>& entries) {
  choosing_ = true;
  QItemSelection selection;
  for (const std::size_t entry : entries) {
    const int row = model_->row_of(entry);
    const QModelIndex at = row < 0 ? QModelIndex() : sorted_->mapFromSource(model_->index(row, 0));
    if (at.isValid())
      selection.select(at, at);
  }
  selectionModel()->select(selection, QItemSelectionModel::ClearAndSelect | QItemSelectionModel::Rows);
  if (!selection.isEmpty())
    scrollTo(selection.indexes().first());
  choosing_ = false;
}

} // namespace batchscope::ui

#include "moc_sweep_table.cpp"
