#include "ui/live/event_table.h"

#include <QComboBox>
#include <QGridLayout>
#include <QHeaderView>
#include <QPainter>
#include <QScopedValueRollback>
#include <QTableView>

#include <algorithm>

#include "ui/widgets/widgets.h"

namespace batchscope::ui {

namespace {

/// Marks a selected error with a bar at its left.
class EventDelegate : public RowDelegate {
public:
  using RowDelegate::RowDelegate;

  void paint(QPainter* painter, const QStyleOptionViewItem& option, const QModelIndex& index) const override {
    RowDelegate::paint(painter, option, index);
    if (index.column() != EventModel::step || !(option.state & QStyle::State_Selected))
      return;
    const bool alarming = index.data(EventModel::alarming_role).toBool();
    painter->fillRect(QRect(option.rect.topLeft(), QSize(3, option.rect.height())),
                      theme_.color(alarming ? Role::error : Role::accent));
  }
};

} // namespace

EventTable::EventTable(const Theme& theme, QWidget* parent)
    : QWidget(parent), model_(new EventModel(theme, this)), filter_(new EventFilter(this)),
      table_(new QTableView(this)), groups_(new QComboBox(this)) {
  filter_->setSourceModel(model_);
  table_->setModel(filter_);
  table_->setObjectName("events");
  table_->setAccessibleName(tr("Events of the run"));
  table_->setItemDelegate(new EventDelegate(theme, table_));
  prepare_table(*table_);
  table_->setSelectionMode(QAbstractItemView::SingleSelection);
  table_->horizontalHeader()->setStretchLastSection(true);
  set_widths();

  groups_->setObjectName("event-filter");
  groups_->setAccessibleName(tr("Filter events by kind"));
  groups_->setToolTip(tr("Filter events by kind"));
  groups_->addItem(tr("All events"), static_cast<int>(telemetry::EventGroup::all));
  groups_->addItem(tr("Out of memory"), static_cast<int>(telemetry::EventGroup::out_of_memory));
  groups_->addItem(tr("Edits"), static_cast<int>(telemetry::EventGroup::edits));
  groups_->addItem(tr("Evaluations"), static_cast<int>(telemetry::EventGroup::evaluations));

  // The combo box lies over the free end of the table's header.
  auto* layout = new QGridLayout(this);
  layout->setContentsMargins(0, 0, 0, 0);
  layout->addWidget(table_, 0, 0);
  auto* corner = new QWidget(this);
  auto* place = new QHBoxLayout(corner);
  place->setContentsMargins(0, 0, Theme::lines(0.4), 0);
  place->addWidget(groups_);
  layout->addWidget(corner, 0, 0, Qt::AlignTop | Qt::AlignRight);
  corner->raise();

  // Placeholder while there are no events.
  auto* nothing = dimmed_label({}, this);
  nothing->setObjectName("no-events");
  nothing->setAlignment(Qt::AlignCenter);
  nothing->setAttribute(Qt::WA_TransparentForMouseEvents);
  layout->addWidget(nothing, 0, 0, Qt::AlignCenter);
  const auto tell = [this, nothing] {
    nothing->setVisible(filter_->rowCount() == 0);
    nothing->setText(model_->rowCount() == 0
                         ? tr("No events yet. Evaluations, edits and out-of-memory errors appear here.")
                         : tr("No events of this kind"));
    show_all_in_use();
  };
  for (const auto signal : {&QAbstractItemModel::rowsInserted, &QAbstractItemModel::rowsRemoved})
    connect(filter_, signal, this, tell);
  connect(filter_, &QAbstractItemModel::modelReset, this, tell);
  tell();

  connect(groups_, &QComboBox::currentIndexChanged, this,
          [this] { filter_->show_group(static_cast<telemetry::EventGroup>(groups_->currentData().toInt())); });
  connect(table_->selectionModel(), &QItemSelectionModel::currentRowChanged, this, [this](const QModelIndex& current) {
    if (!choosing_ && current.isValid())
      Q_EMIT chosen(current.data(EventModel::number_role).toInt());
  });
}

void EventTable::set_widths() {
  const std::pair<EventModel::Column, double> widths[] = {{EventModel::step, 4.5},    {EventModel::what, 14.5},
                                                          {EventModel::before, 7.6},  {EventModel::after, 6.8},
                                                          {EventModel::requested, 6}, {EventModel::in_use, 6.5}};
  const QHeaderView* header = table_->horizontalHeader();
  header->ensurePolished(); // its font decides the width of the titles
  const int padding = Theme::lines(0.8);
  for (const auto& [column, lines] : widths)
    table_->setColumnWidth(column, std::max(Theme::lines(lines), header->sectionSizeHint(column) + padding));
}

void EventTable::show_all_in_use() {
  const auto fitted = [this](EventModel::Column column) {
    table_->resizeColumnToContents(column);
    return table_->columnWidth(column);
  };
  const int in_use = table_->columnWidth(EventModel::in_use), what = table_->columnWidth(EventModel::what);
  const int more = std::max(0, fitted(EventModel::in_use) - in_use); // programs count their libraries, too
  table_->setColumnWidth(EventModel::in_use, in_use + more);
  // Details keep their place: the names of events have some to spare.
  table_->setColumnWidth(EventModel::what, more == 0 ? what : std::clamp(fitted(EventModel::what), what - more, what));
}

void EventTable::show(OpenRun* run) {
  const QScopedValueRollback guard(choosing_, true);
  model_->show(run);
}

void EventTable::choose(std::optional<int> number) {
  const QScopedValueRollback guard(choosing_, true);
  if (!number) {
    table_->setCurrentIndex({});
    table_->clearSelection();
    return;
  }
  model_->take_new(); // it may be an event that has just arrived
  const QModelIndex source = model_->index(model_->row_of(*number), EventModel::step);
  if (source.isValid() && !filter_->mapFromSource(source).isValid())
    show_group(telemetry::EventGroup::all);
  const QModelIndex index = filter_->mapFromSource(source);
  table_->setCurrentIndex(index);
  table_->scrollTo(index);
}

void EventTable::show_group(telemetry::EventGroup group) {
  groups_->setCurrentIndex(groups_->findData(static_cast<int>(group)));
}

QJsonObject EventTable::state() const {
  return {{"group", groups_->currentData().toInt()}};
}

void EventTable::restore(const QJsonObject& state) {
  if (const int index = groups_->findData(state.value("group").toInt(-1)); index >= 0)
    groups_->setCurrentIndex(index);
}

} // namespace batchscope::ui

#include "moc_event_table.cpp"
