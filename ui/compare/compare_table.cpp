#include "ui/compare/compare_table.h"

#include <QHeaderView>
#include <QKeyEvent>
#include <QMenu>

#include <algorithm>
#include <numeric>

#include "ui/compare/compare_table_model.h"
#include "ui/theme/theme.h"
#include "ui/widgets/widgets.h"

namespace batchscope::ui {

namespace {

constexpr int rows_to_measure = 200;      ///< whose texts give a column its width
constexpr double padding_lines = 2;       // of a cell, both sides
constexpr double title_padding_lines = 2; // with the sort indicator
constexpr double widest_lines = 18;

/// Marked rows look selected, however they came to be marked: selecting thousands of rows in a view takes seconds.
class MarkedDelegate : public RowDelegate {
public:
  using RowDelegate::RowDelegate;

protected:
  void initStyleOption(QStyleOptionViewItem* option, const QModelIndex& index) const override {
    RowDelegate::initStyleOption(option, index);
    if (index.data(CompareTableModel::marked_role).toBool())
      option->state |= QStyle::State_Selected;
  }
};

/// Names with a sample of the run's line.
class NameDelegate : public MarkedDelegate {
public:
  using MarkedDelegate::MarkedDelegate;

protected:
  void initStyleOption(QStyleOptionViewItem* option, const QModelIndex& index) const override {
    MarkedDelegate::initStyleOption(option, index);
    option->textElideMode = Qt::ElideMiddle; // names often differ only at their ends
    const QVariant series = index.data(CompareTableModel::series_role);
    const QSize size(Theme::lines(1.5), Theme::lines(0.5));
    option->decorationSize = size;
    option->features |= QStyleOptionViewItem::HasDecoration;
    QPixmap sample;
    if (series.isValid()) {
      sample = line_sample(theme_, series.toInt(), size, option->widget ? option->widget->devicePixelRatioF() : 1);
    } else {
      sample = QPixmap(size);
      sample.fill(Qt::transparent);
    }
    option->icon = QIcon();
    option->icon.addPixmap(sample, QIcon::Normal);
    option->icon.addPixmap(sample, QIcon::Selected);
  }
};

} // namespace

CompareTable::CompareTable(const Theme& theme, ComparisonView& view, QWidget* parent)
    : QTableView(parent), view_(view), runs_(new CompareTableModel(theme, view, this)),
      columns_menu_(new QMenu(tr("Columns"), this)) {
  setModel(runs_);
  prepare_table(*this);
  setItemDelegate(new MarkedDelegate(theme, this));
  setItemDelegateForColumn(0, new NameDelegate(theme, this));
  setSelectionMode(ExtendedSelection);
  setVerticalScrollMode(ScrollPerPixel);
  setHorizontalScrollMode(ScrollPerPixel);
  setSortingEnabled(true);
  horizontalHeader()->setSortIndicator(-1, Qt::AscendingOrder);
  setContextMenuPolicy(Qt::ActionsContextMenu);
  setAccessibleName(tr("Compared runs"));
  setObjectName(QStringLiteral("compared"));
  horizontalHeader()->setContextMenuPolicy(Qt::CustomContextMenu);
  connect(horizontalHeader(), &QWidget::customContextMenuRequested, this,
          [this](const QPoint& at) { columns_menu_->popup(horizontalHeader()->mapToGlobal(at)); });
  connect(columns_menu_, &QMenu::aboutToShow, this, &CompareTable::fill_columns_menu);
  connect(runs_, &QAbstractItemModel::modelAboutToBeReset, this,
          [this] { current_id_ = currentIndex().isValid() ? runs_->id(currentIndex().row()) : 0; });
  connect(runs_, &QAbstractItemModel::modelReset, this, [this] {
    show_marks(nullptr);
    restore_current();
  });
  connect(runs_, &CompareTableModel::columns_changed, this, &CompareTable::fit_columns);
  connect(horizontalHeader(), &QHeaderView::sectionResized, this, [this] {
    spread_ = spread_ && fitting_; // widths that the user has chosen stay
  });
  connect(&view, &ComparisonView::marks_changed, this, &CompareTable::show_marks);
  connect(this, &QTableView::doubleClicked, this, &CompareTable::chosen);
}

void CompareTable::resizeEvent(QResizeEvent* event) {
  QTableView::resizeEvent(event);
  if (spread_)
    fit_columns();
}

/// As wide as the titles and the first rows need; what is left is spread over all columns.
void CompareTable::fit_columns() {
  QList<int> widths;
  QFont bold = horizontalHeader()->font();
  bold.setWeight(QFont::DemiBold);
  const QFontMetrics title(bold);
  const QFontMetrics cell(font());
  for (int column = 0; column < runs_->columnCount(); ++column) {
    int width = title.horizontalAdvance(runs_->headerData(column, Qt::Horizontal).toString()) +
                Theme::lines(title_padding_lines);
    for (int row = 0; row < std::min(rows_to_measure, runs_->rowCount()); ++row)
      width = std::max(width, cell.horizontalAdvance(runs_->index(row, column).data().toString()) +
                                  Theme::lines(padding_lines) + (column == 0 ? Theme::lines(1.8) : 0));
    widths += std::min(width, Theme::lines(widest_lines));
  }
  const auto count = static_cast<int>(widths.size());
  const int left = std::max(0, viewport()->width() - std::accumulate(widths.begin(), widths.end(), 0));
  fitting_ = true;
  for (int column = 0; column < count; ++column)
    setColumnWidth(column, widths[column] + left * (column + 1) / count - left * column / count);
  fitting_ = false;
  spread_ = true;
}

void CompareTable::show_marks(const QObject* by) {
  if (by == this)
    return;
  following_ = true;
  clearSelection(); // which was this table's way of marking
  following_ = false;
  if (!view_.marking())
    return;
  for (int row = 0; row < runs_->rowCount(); ++row)
    if (view_.marked(runs_->runs(row).front())) {
      scrollTo(runs_->index(row, 0));
      return;
    }
}

/// The current row stays that of the same run.
void CompareTable::restore_current() {
  for (int row = 0; current_id_ > 0 && row < runs_->rowCount(); ++row)
    if (runs_->id(row) == current_id_) {
      selectionModel()->setCurrentIndex(runs_->index(row, 0), QItemSelectionModel::NoUpdate);
      return;
    }
}

void CompareTable::selectionChanged(const QItemSelection& selected, const QItemSelection& deselected) {
  QTableView::selectionChanged(selected, deselected);
  if (following_)
    return;
  std::vector<std::size_t> runs;
  for (const QItemSelectionRange& range : selectionModel()->selection())
    for (int row = range.top(); row <= range.bottom(); ++row)
      runs.insert(runs.end(), runs_->runs(row).begin(), runs_->runs(row).end());
  view_.mark(runs, this);
}

void CompareTable::keyPressEvent(QKeyEvent* event) {
  if (event->key() == Qt::Key_Escape && view_.marking())
    view_.clear_marks();
  else if (event->key() == Qt::Key_Return || event->key() == Qt::Key_Enter)
    Q_EMIT chosen();
  else
    QTableView::keyPressEvent(event);
}

std::optional<std::size_t> CompareTable::current_run() const {
  if (!currentIndex().isValid() || runs_->runs(currentIndex().row()).size() != 1)
    return std::nullopt;
  return runs_->runs(currentIndex().row()).front();
}

void CompareTable::toggle_baseline() {
  const auto run = current_run();
  if (!run)
    return;
  const qint64 id = view_.id(*run);
  runs_->set_baseline(runs_->baseline() == id ? std::nullopt : std::optional<qint64>(id));
}

QString CompareTable::selected_text() const {
  QString text;
  const auto add = [&](auto&& cell) {
    QStringList cells;
    for (int column = 0; column < runs_->columnCount(); ++column)
      cells.append(cell(column));
    text += cells.join(u'\t') + u'\n';
  };
  add([&](int column) { return runs_->headerData(column, Qt::Horizontal).toString(); });
  for (int row = 0; row < runs_->rowCount(); ++row)
    if (!view_.marking() || view_.marked(runs_->runs(row).front()))
      add([&](int column) { return runs_->index(row, column).data().toString(); });
  return text;
}

void CompareTable::fill_columns_menu() {
  columns_menu_->clear();
  QAction* differing = columns_menu_->addAction(tr("Only what differs"));
  differing->setCheckable(true);
  differing->setChecked(runs_->only_differing());
  connect(differing, &QAction::triggered, runs_, &CompareTableModel::set_only_differing);
  QMenu* settings = columns_menu_->addMenu(tr("Settings"));
  QMenu* results = columns_menu_->addMenu(tr("Results"));
  QMenu* series = columns_menu_->addMenu(tr("Series"));
  for (const CompareField& field : view_.comparison().fields) {
    QMenu* menu = field.origin == CompareField::Origin::setting  ? settings
                  : field.origin == CompareField::Origin::result ? results
                                                                 : series;
    QAction* action = menu->addAction(field.title);
    action->setCheckable(true);
    action->setChecked(runs_->is_shown(field));
    connect(action, &QAction::triggered, this, [this, key = field.key](bool on) { runs_->set_shown(key, on); });
  }
  for (QMenu* menu : {settings, results, series})
    menu->setEnabled(!menu->isEmpty());
  connect(columns_menu_->addAction(tr("Value of a series at a step…")), &QAction::triggered, this,
          &CompareTable::value_at_step_wanted);
  columns_menu_->addSeparator();
  connect(columns_menu_->addAction(tr("Reset columns")), &QAction::triggered, runs_, &CompareTableModel::reset_columns);
}

} // namespace batchscope::ui

#include "moc_compare_table.cpp"
