#include "ui/runs/run_table_model.h"

#include <QColor>
#include <QElapsedTimer>

#include <algorithm>
#include <cmath>
#include <string_view>

#include "core/compare/evidence.h"
#include "ui/opened_runs/run_looks.h"
#include "ui/runs/run_columns.h"
#include "ui/texts/run_status.h"
#include "ui/theme/theme.h"
#include "ui/widgets/format.h"

namespace batchscope::ui {

namespace {

bool ascending(const std::vector<store::RunRow>& runs) {
  return std::is_sorted(runs.begin(), runs.end(),
                        [](const store::RunRow& a, const store::RunRow& b) { return a.id < b.id; });
}

bool same(const std::optional<double>& a, const std::optional<double>& b) {
  if (!a || !b)
    return a.has_value() == b.has_value();
  return *a == *b || (std::isnan(*a) && std::isnan(*b));
}

bool same(const RunColumn& column, const store::RunRow& a, const store::RunRow& b) {
  return column.number ? same(column.number(a), column.number(b)) : column.text(a) == column.text(b);
}

/// A sort key for names by plain comparison: ignores case, and sorts 9 before 10.
QString natural_key(const QString& name) {
  QString key;
  const QString lower = name.toLower();
  for (qsizetype at = 0; at < lower.size();) {
    if (!lower[at].isDigit()) {
      key += lower[at++];
      continue;
    }
    qsizetype end = at;
    while (end < lower.size() && lower[end].isDigit())
      ++end;
    while (at + 1 < end && lower[at] == u'0')
      ++at;
    // A number with more digits is larger.
    key += u'0';
    key += QChar(static_cast<char16_t>(end - at));
    key += QStringView(lower).mid(at, end - at);
    at = end;
  }
  return key;
}

/// Whether the column shows a speed that other work has made worse.
bool is_disturbed(const store::RunRow& run, const RunColumn& column) {
  return column.key == std::string_view("examples_per_second") && compare::is_disturbed(run.outcome);
}

} // namespace

RunTableModel::RunTableModel(const Theme& theme, QObject* parent) : QAbstractTableModel(parent), theme_(theme) {
  connect(&idle_, &QTimer::timeout, this, &RunTableModel::prepare_some);
}

void RunTableModel::set_runs(const std::vector<store::RunRow>& runs) {
  if (rows_.empty() || !ascending(runs)) {
    beginResetModel();
    rows_.clear();
    rows_.reserve(runs.size());
    for (const store::RunRow& run : runs)
      rows_.push_back({run, {}, {}});
    std::sort(rows_.begin(), rows_.end(), [](const Row& a, const Row& b) { return a.run.id < b.run.id; });
    endResetModel();
    prepared_ = 0;
    idle_.start();
    return;
  }
  remove_missing(runs);
  insert_new(runs);
  for (std::size_t i = 0; i < runs.size(); ++i)
    update(static_cast<int>(i), runs[i]);
}

void RunTableModel::change_runs(const std::vector<store::RunRow>& runs, const std::vector<std::int64_t>& removed) {
  for (const std::int64_t run : removed)
    remove(run);
  for (const store::RunRow& run : runs)
    insert_or_update(run);
}

void RunTableModel::announce_reset() {
  beginResetModel();
  endResetModel();
}

void RunTableModel::remove(std::int64_t run) {
  const int row = row_of(run);
  if (row < 0)
    return;
  beginRemoveRows({}, row, row);
  rows_.erase(rows_.begin() + row);
  endRemoveRows();
}

void RunTableModel::insert_or_update(const store::RunRow& run) {
  if (const int row = row_of(run.id); row >= 0)
    return update(row, run);
  const auto at = std::lower_bound(rows_.begin(), rows_.end(), run.id,
                                   [](const Row& row, std::int64_t id) { return row.run.id < id; });
  const auto row = static_cast<int>(at - rows_.begin());
  beginInsertRows({}, row, row);
  rows_.insert(at, {run, {}, {}});
  endInsertRows();
}

void RunTableModel::remove_missing(const std::vector<store::RunRow>& runs) {
  const auto is_there = [&](const Row& row) {
    return std::binary_search(runs.begin(), runs.end(), row.run,
                              [](const store::RunRow& a, const store::RunRow& b) { return a.id < b.id; });
  };
  // From the end, so that the rows still to be visited keep their places.
  for (auto last = static_cast<int>(rows_.size()) - 1; last >= 0; --last) {
    if (is_there(rows_[static_cast<std::size_t>(last)]))
      continue;
    int first = last;
    while (first > 0 && !is_there(rows_[static_cast<std::size_t>(first) - 1]))
      --first;
    beginRemoveRows({}, first, last);
    rows_.erase(rows_.begin() + first, rows_.begin() + last + 1);
    endRemoveRows();
    last = first;
  }
}

void RunTableModel::insert_new(const std::vector<store::RunRow>& runs) {
  for (std::size_t at = 0; at < runs.size(); ++at) {
    if (at < rows_.size() && rows_[at].run.id == runs[at].id)
      continue;
    std::size_t end = at + 1;
    while (end < runs.size() && (at == rows_.size() || runs[end].id < rows_[at].run.id))
      ++end;
    beginInsertRows({}, static_cast<int>(at), static_cast<int>(end) - 1);
    std::vector<Row> fresh;
    for (std::size_t i = at; i < end; ++i)
      fresh.push_back({runs[i], {}, {}});
    rows_.insert(rows_.begin() + static_cast<std::ptrdiff_t>(at), fresh.begin(), fresh.end());
    endInsertRows();
    at = end - 1;
  }
}

void RunTableModel::update(int row, const store::RunRow& run) {
  ++compared_;
  // Only the columns that differ: an open editor in another column keeps its text.
  const auto& columns = run_columns();
  Row& held = rows_[static_cast<std::size_t>(row)];
  int first = -1;
  int last = -1;
  for (std::size_t column = 0; column < columns.size(); ++column)
    if (!same(columns[column], held.run, run)) {
      first = first < 0 ? static_cast<int>(column) : first;
      last = static_cast<int>(column);
    }
  const bool progressed = progress(held.run) != progress(run);
  held.run = run;
  if (first < 0)
    return;
  held.words.clear();
  held.name_key.clear();
  Q_EMIT dataChanged(index(row, first), index(row, last));
  if (progressed && first > status_column) // the status shows the progress
    Q_EMIT dataChanged(index(row, status_column), index(row, status_column));
}

void RunTableModel::set_expected_steps(std::int64_t run, std::int64_t steps) {
  if (const auto known = expected_steps_.find(run); known != expected_steps_.end() && *known == steps)
    return;
  expected_steps_[run] = steps;
  const int row = row_of(run);
  if (row >= 0)
    Q_EMIT dataChanged(index(row, status_column), index(row, status_column));
}

void RunTableModel::set_plotted(const QList<qint64>& runs) {
  if (runs == plotted_)
    return;
  plotted_ = runs;
  looks_ = run_looks(runs);
  if (rows_.empty())
    return;
  Q_EMIT dataChanged(index(0, name_column), index(rowCount() - 1, name_column), {series_role});
}

int RunTableModel::row_of(std::int64_t run) const {
  const auto found = std::lower_bound(rows_.begin(), rows_.end(), run,
                                      [](const Row& row, std::int64_t id) { return row.run.id < id; });
  return found == rows_.end() || found->run.id != run ? -1 : static_cast<int>(found - rows_.begin());
}

const QString& RunTableModel::words(int row) const {
  const Row& held = rows_[static_cast<std::size_t>(row)];
  if (held.words.isEmpty())
    for (const RunColumn& column : run_columns())
      held.words += column.shown_text(held.run).toLower() + u'\n';
  return held.words;
}

const QString& RunTableModel::name_key(int row) const {
  const Row& held = rows_[static_cast<std::size_t>(row)];
  if (held.name_key.isEmpty())
    held.name_key = natural_key(QString::fromStdString(held.run.name));
  return held.name_key;
}

void RunTableModel::prepare_some() {
  constexpr qint64 share_of_a_frame_ms = 4;
  QElapsedTimer time;
  time.start();
  for (; prepared_ < rowCount() && time.elapsed() < share_of_a_frame_ms; ++prepared_) {
    words(prepared_);
    name_key(prepared_);
  }
  if (prepared_ >= rowCount())
    idle_.stop();
}

int RunTableModel::rowCount(const QModelIndex& parent) const {
  return parent.isValid() ? 0 : static_cast<int>(rows_.size());
}

int RunTableModel::columnCount(const QModelIndex& parent) const {
  return parent.isValid() ? 0 : static_cast<int>(run_columns().size());
}

std::optional<double> RunTableModel::progress(const store::RunRow& run) const {
  if (run.outcome.status != telemetry::RunStatus::running)
    return std::nullopt;
  const qint64 expected = expected_steps_.value(run.id);
  if (expected <= 0)
    return std::nullopt;
  return std::min(static_cast<double>(run.outcome.steps) / static_cast<double>(expected), 1.0);
}

QVariant RunTableModel::foreground(const store::RunRow& run, int column) const {
  const RunColumn& shown = run_columns()[static_cast<std::size_t>(column)];
  if (std::string_view(shown.key) == "oom_events")
    return theme_.color(run.outcome.oom_events == 0                          ? Role::dimmed
                        : run.outcome.status == telemetry::RunStatus::failed ? Role::error
                                                                             : Role::warning); // it survived them
  if (is_disturbed(run, shown))
    return theme_.color(Role::warning);
  return shown.dimmed || (column == name_column && run.name.empty()) ? QVariant(theme_.color(Role::dimmed))
                                                                     : QVariant();
}

QVariant RunTableModel::tool_tip(const store::RunRow& run, int column) const {
  const RunColumn& shown = run_columns()[static_cast<std::size_t>(column)];
  if (column == status_column && !run.outcome.reason.empty())
    return QString::fromStdString(run.outcome.reason);
  if (is_disturbed(run, shown))
    return tr("Other programs on this machine took %1 of the time and slowed this run down")
        .arg(format_percent(*run.outcome.disturbed, 0));
  // The column may cut off the text.
  return shown.text && column != status_column ? QVariant(shown.shown_text(run)) : QVariant();
}

QVariant RunTableModel::data(const QModelIndex& index, int role) const {
  if (!checkIndex(index, CheckIndexOption::IndexIsValid))
    return {};
  const store::RunRow& run = this->run(index.row());
  const RunColumn& column = run_columns()[static_cast<std::size_t>(index.column())];
  switch (role) {
  case Qt::DisplayRole:
    return column.shown_text(run);
  case Qt::EditRole:
    return column.number ? QVariant() : QVariant(QString::fromStdString(column.text(run)));
  case Qt::TextAlignmentRole:
    return QVariant(Qt::AlignVCenter | (column.number ? Qt::AlignRight : Qt::AlignLeft));
  case Qt::ForegroundRole:
    return foreground(run, index.column());
  case Qt::ToolTipRole:
    return tool_tip(run, index.column());
  case status_role:
    return status_name(run.outcome.status);
  case progress_role: {
    const auto fraction = progress(run);
    return fraction ? QVariant(*fraction) : QVariant();
  }
  case series_role: {
    const auto at = plotted_.indexOf(run.id);
    return at < 0 || index.column() != name_column ? QVariant() : QVariant(looks_[at]);
  }
  default:
    return {};
  }
}

QVariant RunTableModel::headerData(int section, Qt::Orientation orientation, int role) const {
  if (orientation != Qt::Horizontal || section < 0 || section >= columnCount())
    return {};
  const RunColumn& column = run_columns()[static_cast<std::size_t>(section)];
  if (role == Qt::DisplayRole)
    return column_title(column);
  if (role == Qt::ToolTipRole)
    return column_help(column);
  if (role == Qt::TextAlignmentRole)
    return QVariant(Qt::AlignVCenter | (column.number ? Qt::AlignRight : Qt::AlignLeft));
  return {};
}

Qt::ItemFlags RunTableModel::flags(const QModelIndex& index) const {
  const Qt::ItemFlags flags = QAbstractTableModel::flags(index);
  if (!index.isValid())
    return flags;
  const bool editable = editable_ && (index.column() == name_column || index.column() == note_column());
  return flags | Qt::ItemNeverHasChildren | (editable ? Qt::ItemIsEditable : Qt::NoItemFlags);
}

bool RunTableModel::setData(const QModelIndex& index, const QVariant& value, int role) {
  if (role != Qt::EditRole || !checkIndex(index, CheckIndexOption::IndexIsValid) ||
      !flags(index).testFlag(Qt::ItemIsEditable))
    return false;
  Row& row = rows_[static_cast<std::size_t>(index.row())];
  const bool naming = index.column() == name_column;
  std::string& stored = naming ? row.run.name : row.run.note;
  const QString before = QString::fromStdString(stored);
  const QString text = value.toString().simplified();
  if (text == before)
    return true;
  stored = text.toStdString();
  row.words.clear();
  row.name_key.clear();
  const qint64 run = row.run.id;
  Q_EMIT dataChanged(index, index);
  if (naming)
    Q_EMIT renamed(run, before, text);
  else
    Q_EMIT annotated(run, before, text);
  return true;
}

} // namespace batchscope::ui

#include "moc_run_table_model.cpp"
