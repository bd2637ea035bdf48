#include "ui/runs/run_table.h"

#include <QHeaderView>
#include <QJsonArray>
#include <QMenu>
#include <QMouseEvent>
#include <QScrollBar>

#include <algorithm>

#include "ui/runs/run_delegates.h"
#include "ui/runs/run_filter.h"
#include "ui/runs/run_table_model.h"
#include "ui/theme/theme.h"
#include "ui/widgets/widgets.h"

namespace batchscope::ui {

namespace {

constexpr double row_lines = 1.85;
constexpr double padding_lines = 1.6;       // of a cell, both sides
constexpr double title_padding_lines = 1.8; // with the sort indicator
constexpr double narrowest_lines = 2;

/// A text for a table of separated values: quoted if it contains a separator.
QString separated(const QString& text, QChar separator) {
  if (!text.contains(separator) && !text.contains(u'"') && !text.contains(u'\n'))
    return text;
  return u'"' + QString(text).replace(QStringLiteral("\""), QStringLiteral("\"\"")) + u'"';
}

} // namespace

RunTable::RunTable(const Theme& theme, RunFilter& runs, QWidget* parent)
    : QTableView(parent), runs_(runs), columns_menu_(new QMenu(tr("Columns"), this)) {
  setModel(&runs);
  setItemDelegate(new RowDelegate(theme, this));
  setItemDelegateForColumn(status_column, new StatusDelegate(theme, this));
  setItemDelegateForColumn(name_column, new TextDelegate(theme, this));
  setItemDelegateForColumn(note_column(), new TextDelegate(theme, this));
  prepare_table(*this);
  setSelectionMode(ExtendedSelection);
  setEditTriggers(NoEditTriggers); // the page's actions start editing, since they know the column
  setVerticalScrollMode(ScrollPerPixel);
  setContextMenuPolicy(Qt::ActionsContextMenu);
  setAccessibleName(tr("Runs"));
  verticalHeader()->setDefaultSectionSize(Theme::lines(row_lines));

  QHeaderView* header = horizontalHeader();
  header->setSectionsMovable(true);
  header->setStretchLastSection(true);
  header->setMinimumSectionSize(Theme::lines(narrowest_lines));
  header->setContextMenuPolicy(Qt::CustomContextMenu);
  connect(header, &QWidget::customContextMenuRequested, this,
          [this, header](const QPoint& at) { columns_menu_->popup(header->mapToGlobal(at)); });
  setSortingEnabled(true);
  make_columns_menu();
  reset_columns();
}

void RunTable::make_columns_menu() {
  for (int column = 0; column < runs_.columnCount(); ++column) {
    if (column == name_column)
      continue; // a row without a name is meaningless
    QAction* action = columns_menu_->addAction(column_title(run_columns()[static_cast<std::size_t>(column)]));
    action->setCheckable(true);
    action->setToolTip(column_help(run_columns()[static_cast<std::size_t>(column)]));
    connect(action, &QAction::toggled, this, [this, column](bool on) { setColumnHidden(column, !on); });
    connect(columns_menu_, &QMenu::aboutToShow, action,
            [this, action, column] { action->setChecked(!isColumnHidden(column)); });
  }
  columns_menu_->addSeparator();
  connect(columns_menu_->addAction(tr("Reset columns")), &QAction::triggered, this, &RunTable::reset_columns);
}

void RunTable::reset_columns() {
  QHeaderView* header = horizontalHeader();
  const int character = fontMetrics().horizontalAdvance(u'0');
  QFont bold = header->font();
  bold.setWeight(QFont::DemiBold);
  const QFontMetrics title(bold);
  const auto& columns = run_columns();
  for (int column = 0; column < runs_.columnCount(); ++column) {
    const RunColumn& info = columns[static_cast<std::size_t>(column)];
    header->moveSection(header->visualIndex(column), column);
    setColumnHidden(column, !info.shown);
    setColumnWidth(column, std::max(info.characters * character + Theme::lines(padding_lines),
                                    title.horizontalAdvance(column_title(info)) + Theme::lines(title_padding_lines)));
  }
  sortByColumn(id_column, Qt::DescendingOrder);
}

std::vector<int> RunTable::shown_columns() const {
  std::vector<int> columns;
  for (int visual = 0; visual < horizontalHeader()->count(); ++visual)
    if (const int column = horizontalHeader()->logicalIndex(visual); !isColumnHidden(column))
      columns.push_back(column);
  return columns;
}

std::vector<int> RunTable::selected_rows() const {
  std::vector<int> rows;
  for (const QItemSelectionRange& range : selectionModel()->selection())
    for (int row = range.top(); row <= range.bottom(); ++row)
      rows.push_back(row);
  std::sort(rows.begin(), rows.end());
  rows.erase(std::unique(rows.begin(), rows.end()), rows.end());
  return rows;
}

std::vector<std::int64_t> RunTable::selected_runs() const {
  std::vector<std::int64_t> ids;
  for (const int row : selected_rows())
    ids.push_back(run_at(row));
  return ids;
}

std::int64_t RunTable::run_at(int row) const {
  return runs_.runs().run(runs_.mapToSource(runs_.index(row, 0)).row()).id;
}

int RunTable::row_of(std::int64_t run) const {
  const int row = runs_.runs().row_of(run);
  return row < 0 ? -1 : runs_.mapFromSource(runs_.runs().index(row, 0)).row();
}

int RunTable::select_runs(const QList<qint64>& runs) {
  QItemSelection selection;
  for (const qint64 run : runs) {
    if (const int row = row_of(run); row >= 0)
      selection.select(runs_.index(row, 0), runs_.index(row, 0));
  }
  if (selection.isEmpty())
    return 0;
  const QModelIndex first = selection.first().topLeft();
  selectionModel()->setCurrentIndex(first, QItemSelectionModel::NoUpdate);
  selectionModel()->select(selection, QItemSelectionModel::ClearAndSelect | QItemSelectionModel::Rows);
  scrollTo(first);
  return static_cast<int>(selection.size());
}

std::optional<std::int64_t> RunTable::current_run() const {
  const QModelIndex current = currentIndex();
  if (!current.isValid() || !selectionModel()->isRowSelected(current.row()))
    return std::nullopt;
  return run_at(current.row());
}

void RunTable::edit(int column) {
  if (!current_run())
    return;
  setColumnHidden(column, false);
  const QModelIndex cell = currentIndex().siblingAtColumn(column);
  scrollTo(cell);
  QTableView::edit(cell);
}

void RunTable::change_rows(const std::function<void()>& change) {
  const bool had_selection = selectionModel()->hasSelection();
  // Keeps the top row in place when rows are inserted above; at the very top, new rows are to be visible.
  const QPersistentModelIndex top = verticalScrollBar()->value() > 0 ? indexAt(QPoint(0, 0)) : QModelIndex();
  const int offset = top.isValid() ? rowViewportPosition(top.row()) : 0;
  change();
  executeDelayedItemsLayout();
  if (top.isValid())
    verticalScrollBar()->setValue(verticalScrollBar()->value() + rowViewportPosition(top.row()) - offset);
  if (had_selection && !selectionModel()->hasSelection() && currentIndex().isValid())
    selectRow(currentIndex().row());
}

void RunTable::filter_rows(const QString& text) {
  const std::vector<std::int64_t> selected = selected_runs();
  const QModelIndex cell = currentIndex();
  const int current = cell.row();
  const int column = cell.column();
  const int top = verticalScrollBar()->value() > 0 ? rowAt(0) : -1;
  const int offset = top >= 0 ? rowViewportPosition(top) : 0;
  // The order before, if anything depends on it: the first of these runs that is still shown takes the place.
  std::vector<std::int64_t> order;
  if (current >= 0 || top >= 0)
    for (int row = 0; row < runs_.rowCount(); ++row)
      order.push_back(run_at(row));
  const auto next_shown = [&](int from) {
    for (auto at = static_cast<std::size_t>(from); at < order.size(); ++at)
      if (const int row = row_of(order[at]); row >= 0)
        return row;
    return runs_.rowCount() - 1;
  };

  runs_.set_text(text);

  QItemSelection selection;
  for (const std::int64_t run : selected)
    if (const int row = row_of(run); row >= 0)
      selection.select(runs_.index(row, 0), runs_.index(row, 0));
  if (current >= 0 && runs_.rowCount() > 0) {
    const QModelIndex next = runs_.index(next_shown(current), column);
    if (selection.isEmpty() && !selected.empty())
      selection.select(next, next);
    selectionModel()->setCurrentIndex(next, QItemSelectionModel::NoUpdate);
  }
  selectionModel()->select(selection, QItemSelectionModel::ClearAndSelect | QItemSelectionModel::Rows);
  executeDelayedItemsLayout();
  if (top >= 0 && runs_.rowCount() > 0)
    verticalScrollBar()->setValue(verticalScrollBar()->value() + rowViewportPosition(next_shown(top)) - offset);
  if (selection.isEmpty() && !selected.empty())
    Q_EMIT selection_changed(); // a reset clears the selection silently
}

QString RunTable::selected_text(QChar separator) const {
  const auto columns = shown_columns();
  QString text;
  const auto add = [&](auto&& cell) {
    QStringList cells;
    for (const int column : columns)
      cells.append(separated(cell(run_columns()[static_cast<std::size_t>(column)]), separator));
    text += cells.join(separator) + u'\n';
  };
  add([](const RunColumn& column) { return QString::fromLatin1(column.key); });
  for (const int row : selected_rows()) {
    const store::RunRow& run = runs_.runs().run(runs_.mapToSource(runs_.index(row, 0)).row());
    add([&](const RunColumn& column) { return copied_text(column, run); });
  }
  return text;
}

QJsonObject RunTable::state() const {
  QJsonArray columns;
  const QHeaderView* header = horizontalHeader();
  for (int visual = 0; visual < header->count(); ++visual) {
    const int column = header->logicalIndex(visual);
    QJsonObject kept{{"key", run_columns()[static_cast<std::size_t>(column)].key}, {"shown", !isColumnHidden(column)}};
    // The last column takes the remaining width, and a hidden one has none.
    if (!isColumnHidden(column) && column != shown_columns().back())
      kept["width"] = columnWidth(column);
    columns.append(kept);
  }
  return {{"columns", columns},
          {"sort", run_columns()[static_cast<std::size_t>(header->sortIndicatorSection())].key},
          {"descending", header->sortIndicatorOrder() == Qt::DescendingOrder}};
}

void RunTable::restore(const QJsonObject& state) {
  QHeaderView* header = horizontalHeader();
  int visual = 0;
  for (const QJsonValue& value : state["columns"].toArray()) {
    const QJsonObject kept = value.toObject();
    const int column = run_column(kept["key"].toString());
    if (column < 0 || header->visualIndex(column) < visual)
      continue;
    header->moveSection(header->visualIndex(column), visual++);
    setColumnHidden(column, !kept["shown"].toBool(true) && column != name_column);
    if (const int width = kept["width"].toInt(); width >= header->minimumSectionSize())
      setColumnWidth(column, width);
  }
  if (const int column = run_column(state["sort"].toString()); column >= 0)
    sortByColumn(column, state["descending"].toBool() ? Qt::DescendingOrder : Qt::AscendingOrder);
}

void RunTable::selectionChanged(const QItemSelection& selected, const QItemSelection& deselected) {
  QTableView::selectionChanged(selected, deselected);
  Q_EMIT selection_changed();
}

void RunTable::mouseDoubleClickEvent(QMouseEvent* event) {
  const QModelIndex cell = indexAt(event->position().toPoint());
  if (event->button() != Qt::LeftButton || !cell.isValid()) {
    QTableView::mouseDoubleClickEvent(event);
    return;
  }
  if (cell.column() == note_column())
    edit(note_column());
  else
    Q_EMIT chosen();
}

} // namespace batchscope::ui

#include "moc_run_table.cpp"
