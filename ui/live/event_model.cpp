#include "ui/live/event_model.h"

#include "ui/widgets/format.h"

namespace batchscope::ui {

EventModel::EventModel(const Theme& theme, QObject* parent) : QAbstractTableModel(parent), theme_(theme) {
  coming_.setSingleShot(true);
  coming_.setInterval(0);
  connect(&coming_, &QTimer::timeout, this, &EventModel::take_new);
  connect(&theme, &Theme::changed, this, [this] {
    if (shown_ > 0)
      Q_EMIT dataChanged(index(0, 0), index(shown_ - 1, column_count - 1), {Qt::ForegroundRole});
  });
}

void EventModel::show(OpenRun* run) {
  if (run_ == run && (run != nullptr) == (history_ != nullptr))
    return;
  if (run_)
    disconnect(run_, nullptr, &coming_, nullptr);
  beginResetModel();
  run_ = run;
  history_ = run != nullptr ? run->history() : nullptr;
  cells_.clear();
  shown_ = history_ ? static_cast<int>(history_->events().size()) : 0;
  cells_.resize(shown_);
  endResetModel();
  if (run != nullptr)
    // For each insertion before them, a filter model processes all rows again, so insertions are combined.
    connect(run, &OpenRun::event_came, &coming_, qOverload<>(&QTimer::start));
}

void EventModel::take_new() {
  const int count = history_ ? static_cast<int>(history_->events().size()) : 0;
  if (count == shown_)
    return;
  beginInsertRows({}, 0, count - shown_ - 1);
  shown_ = count;
  cells_.resize(count);
  endInsertRows();
}

int EventModel::row_of(int number) const {
  return number >= 0 && number < shown_ ? shown_ - 1 - number : -1;
}

int EventModel::rowCount(const QModelIndex& parent) const {
  return parent.isValid() ? 0 : shown_;
}

int EventModel::columnCount(const QModelIndex& parent) const {
  return parent.isValid() ? 0 : column_count;
}

const EventCells& EventModel::cells(int number) const {
  if (!cells_[number])
    cells_[number] = cells_of(history_->events()[number]);
  return *cells_[number];
}

QVariant EventModel::shown_text(int number, Column column) const {
  switch (column) {
  case step:
    return format_count(history_->events()[number].step);
  case what:
    return cells(number).what;
  case before:
    return cells(number).before;
  case after:
    return cells(number).after;
  case requested:
    return cells(number).requested;
  case in_use:
    return cells(number).in_use;
  case details:
  case column_count:
    break;
  }
  return cells(number).details;
}

QVariant EventModel::color(int number, Column column) const {
  if (column == what && cells(number).alarming)
    return theme_.color(ui::Role::error);
  if (column == details && !cells(number).alarming)
    return theme_.color(ui::Role::dimmed);
  return {};
}

QVariant EventModel::data(const QModelIndex& index, int role) const {
  if (!checkIndex(index, CheckIndexOption::IndexIsValid | CheckIndexOption::ParentIsInvalid))
    return {};
  const int number = shown_ - 1 - index.row();
  const auto column = static_cast<Column>(index.column());
  switch (role) {
  case Qt::DisplayRole:
    return shown_text(number, column);
  case Qt::ToolTipRole:
    return column == details || column == what ? shown_text(number, column) : QVariant();
  case Qt::ForegroundRole:
    return color(number, column);
  case Qt::TextAlignmentRole:
    return QVariant(column >= before && column <= in_use ? Qt::AlignRight | Qt::AlignVCenter
                                                         : Qt::AlignLeft | Qt::AlignVCenter);
  case number_role:
    return number;
  case group_role:
    return static_cast<int>(cells(number).group);
  case alarming_role:
    return cells(number).alarming;
  default:
    return {};
  }
}

QVariant EventModel::headerData(int section, Qt::Orientation orientation, int role) const {
  if (orientation != Qt::Horizontal || section < 0 || section >= column_count)
    return {};
  if (role == Qt::TextAlignmentRole)
    return QVariant(section >= before && section <= in_use ? Qt::AlignRight | Qt::AlignVCenter
                                                           : Qt::AlignLeft | Qt::AlignVCenter);
  if (role != Qt::DisplayRole)
    return {};
  const QString names[column_count] = {tr("Step"),      tr("Event"),  tr("Before"), tr("After"),
                                       tr("Requested"), tr("In use"), tr("Details")};
  return names[section];
}

void EventFilter::show_group(telemetry::EventGroup group) {
  if (group_ == group)
    return;
  group_ = group;
  invalidateFilter();
}

bool EventFilter::filterAcceptsRow(int row, const QModelIndex& parent) const {
  if (group_ == telemetry::EventGroup::all)
    return true;
  return sourceModel()->index(row, 0, parent).data(EventModel::group_role).toInt() == static_cast<int>(group_);
}

} // namespace batchscope::ui

#include "moc_event_model.cpp"
