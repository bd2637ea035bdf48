#include "ui/compare/compare_table_model.h"

#include <QColor>

#include <algorithm>
#include <array>
#include <cmath>

#include "core/compare/evidence.h"
#include "ui/theme/theme.h"
#include "ui/widgets/format.h"

namespace batchscope::ui {

namespace {

/// Results that have a column by default even if they are the same in all runs.
constexpr std::array<const char*, 4> always{"result:status", "result:validation_accuracy", "result:seconds",
                                            "result:peak_bytes"};
/// Results without a column by default: derived from others, or long.
constexpr std::array<const char*, 5> seldom{"result:reason", "result:epoch", "result:train_coverage",
                                            "result:examples_seen", "result:loss"};

template <std::size_t Size> bool contains(const std::array<const char*, Size>& keys, const QString& key) {
  return std::any_of(keys.begin(), keys.end(), [&](const char* each) { return key == QLatin1String(each); });
}

} // namespace

CompareTableModel::CompareTableModel(const Theme& theme, ComparisonView& view, QObject* parent)
    : QAbstractTableModel(parent), theme_(theme), view_(view) {
  connect(&view, &ComparisonView::comparison_changed, this, &CompareTableModel::rebuild);
  connect(&view, &ComparisonView::visible_changed, this, &CompareTableModel::rebuild);
  connect(&view, &ComparisonView::grouping_changed, this, &CompareTableModel::rebuild);
  connect(&view, &ComparisonView::marks_changed, this, [this] {
    if (!rows_.empty()) // colours
      Q_EMIT dataChanged(index(0, 0), index(rowCount() - 1, 0), {series_role, marked_role});
  });
}

void CompareTableModel::rebuild() {
  beginResetModel();
  rows_.clear();
  if (grouped()) {
    std::vector<bool> shown(view_.comparison().runs().size(), false);
    for (const std::size_t run : view_.visible())
      shown[run] = true;
    for (std::size_t group = 0; group < view_.groups().groups.size(); ++group) {
      std::vector<std::size_t> runs = view_.groups().groups[group];
      std::erase_if(runs, [&](std::size_t run) { return !shown[run]; });
      if (!runs.empty())
        rows_.push_back({runs, group, view_.id(runs.front())});
    }
  } else {
    for (const std::size_t run : view_.visible())
      rows_.push_back({{run}, 0, view_.id(run)});
  }
  make_columns();
  sort_rows();
  endResetModel();
  Q_EMIT columns_changed();
}

void CompareTableModel::make_columns() {
  columns_ = {{Column::Kind::name, -1}};
  if (grouped())
    columns_.push_back({Column::Kind::count, -1});
  const auto& fields = view_.comparison().fields;
  const bool compared = baseline_run().has_value();
  for (int i = 0; i < std::ssize(fields); ++i) {
    const CompareField& field = fields[static_cast<std::size_t>(i)];
    if (!is_shown(field))
      continue;
    columns_.push_back({Column::Kind::field, i});
    if (compared && !field.ordinal && field.origin != CompareField::Origin::setting)
      columns_.push_back({Column::Kind::difference, i});
  }
}

bool CompareTableModel::shown_by_default(const CompareField& field) const {
  if (field.origin == CompareField::Origin::series)
    return field.key.contains(u'@'); // asked for
  if (view_.visible().empty())
    return false;
  if (contains(seldom, field.key))
    return !only_differing_;
  return !only_differing_ || contains(always, field.key) || view_.differs(field);
}

bool CompareTableModel::is_shown(const CompareField& field) const {
  const auto chosen = shown_.constFind(field.key);
  return chosen != shown_.constEnd() ? *chosen : shown_by_default(field);
}

void CompareTableModel::set_only_differing(bool on) {
  only_differing_ = on;
  rebuild();
}

void CompareTableModel::set_shown(const QString& key, bool shown) {
  shown_[key] = shown;
  rebuild();
}

void CompareTableModel::reset_columns() {
  shown_.clear();
  only_differing_ = true;
  rebuild();
}

void CompareTableModel::set_baseline(std::optional<qint64> run) {
  baseline_ = run;
  rebuild();
}

std::optional<std::size_t> CompareTableModel::baseline_run() const {
  const auto& runs = view_.comparison().runs();
  for (std::size_t run = 0; baseline_ && run < runs.size(); ++run)
    if (runs[run].row.id == *baseline_)
      return run;
  return std::nullopt;
}

const CompareField& CompareTableModel::field(const Column& column) const {
  return view_.comparison().fields[static_cast<std::size_t>(column.field)];
}

QString CompareTableModel::key(int column) const {
  const Column& shown = columns_[static_cast<std::size_t>(column)];
  return shown.field < 0 ? QString() : field(shown).key;
}

int CompareTableModel::rowCount(const QModelIndex& parent) const {
  return parent.isValid() ? 0 : static_cast<int>(rows_.size());
}

int CompareTableModel::columnCount(const QModelIndex& parent) const {
  return parent.isValid() ? 0 : static_cast<int>(columns_.size());
}

/// The value, or the mean of a group's values; nothing without any.
std::optional<double> CompareTableModel::number(const Row& row, const CompareField& field) const {
  if (grouped() && field.has_mean()) {
    const compare::Summary summary = view_.comparison().summary(field, row.runs);
    return summary.n == 0 ? std::nullopt : std::optional(summary.mean);
  }
  const double value = field.numbers[row.runs.front()];
  const bool same = std::all_of(row.runs.begin(), row.runs.end(),
                                [&](std::size_t run) { return field.numbers[run] == value; }); // never for NaN
  return same ? std::optional(value) : std::nullopt;
}

/// `3`, or `2 of 3` if one of them has not finished.
QString CompareTableModel::count_text(const Row& row) const {
  const auto all = std::ssize(row.runs);
  const std::int64_t of = compare::counted(view_.comparison().compared, row.runs);
  return of == all ? format_count(all) : tr("%1 of %2").arg(format_count(of), format_count(all));
}

QString CompareTableModel::field_text(const Row& row, const CompareField& field) const {
  const std::size_t first = row.runs.front();
  const bool same = std::all_of(row.runs.begin(), row.runs.end(),
                                [&](std::size_t run) { return field.ranks[run] == field.ranks[first]; });
  if (!grouped() || (same && !field.has_mean()))
    return field.text(first);
  if (!field.has_mean())
    return tr("several");
  const compare::Summary summary = view_.comparison().summary(field, row.runs);
  if (summary.n == 0)
    return {};
  const QString text = QString::fromStdString(compare::mean_text(field.column, summary).whole());
  return summary.n == compare::counted(view_.comparison().compared, row.runs)
             ? text
             : tr("%1 (n = %2)").arg(text, format_count(summary.n));
}

QString CompareTableModel::difference_text(const Row& row, const CompareField& field) const {
  const auto base = baseline_run();
  if (!base)
    return {};
  const auto value = number(row, field);
  const double from = field.numbers[*base];
  if (!value || std::isnan(from) || (row.runs.size() == 1 && row.runs.front() == *base))
    return {};
  return QString::fromStdString(compare::difference_text(field.column.kind, *value, from));
}

/// Green for better and red for worse than the baseline, where that is known.
QVariant CompareTableModel::difference_color(const Row& row, const CompareField& field) const {
  const auto base = baseline_run();
  const auto value = number(row, field);
  if (!base || !value || !field.larger_is_better() || *value == field.numbers[*base])
    return theme_.color(Role::dimmed);
  const bool better = (*value > field.numbers[*base]) == *field.larger_is_better();
  return theme_.color(better ? Role::good : Role::text);
}

QString CompareTableModel::name_of(const Row& row) const {
  if (grouped())
    return group_name(view_.comparison(), view_.groups(), row.group);
  const QString name = view_.comparison().run_name(row.runs.front());
  return baseline_ == view_.id(row.runs.front()) ? tr("%1 · baseline").arg(name) : name;
}

QVariant CompareTableModel::data(const QModelIndex& index, int role) const {
  if (!index.isValid())
    return {};
  const Row& row = rows_[static_cast<std::size_t>(index.row())];
  const Column& column = columns_[static_cast<std::size_t>(index.column())];
  switch (role) {
  case Qt::DisplayRole:
    switch (column.kind) {
    case Column::Kind::name:
      return name_of(row);
    case Column::Kind::count:
      return count_text(row);
    case Column::Kind::field:
      return field_text(row, field(column));
    case Column::Kind::difference:
      return difference_text(row, field(column));
    }
    return {};
  case Qt::TextAlignmentRole:
    return column.kind == Column::Kind::name || (column.kind == Column::Kind::field && field(column).ordinal)
               ? QVariant(int(Qt::AlignLeft | Qt::AlignVCenter))
               : QVariant(int(Qt::AlignRight | Qt::AlignVCenter));
  case Qt::ForegroundRole:
    if (column.kind == Column::Kind::difference)
      return difference_color(row, field(column));
    return column.kind == Column::Kind::count ? QVariant(theme_.color(Role::dimmed)) : QVariant();
  case Qt::ToolTipRole:
    return column.kind == Column::Kind::name ? name_of(row) : QVariant();
  case marked_role:
    return view_.marking() && view_.marked(row.runs.front());
  case series_role:
    if (column.kind == Column::Kind::name && view_.is_emphasized(row.runs.front()))
      if (const auto look = view_.look(row.runs.front()))
        return *look;
    return {};
  default:
    return {};
  }
}

QVariant CompareTableModel::headerData(int section, Qt::Orientation orientation, int role) const {
  if (orientation != Qt::Horizontal || section >= columnCount())
    return {};
  const Column& column = columns_[static_cast<std::size_t>(section)];
  if (role == Qt::TextAlignmentRole)
    return column.kind == Column::Kind::name || (column.field >= 0 && field(column).ordinal)
               ? int(Qt::AlignLeft | Qt::AlignVCenter)
               : int(Qt::AlignRight | Qt::AlignVCenter);
  if (role == Qt::ToolTipRole)
    return column.field < 0 ? QString() : field(column).key.section(u':', -1);
  if (role != Qt::DisplayRole)
    return {};
  switch (column.kind) {
  case Column::Kind::name:
    return grouped() ? tr("Group") : tr("Run");
  case Column::Kind::count:
    return tr("runs");
  case Column::Kind::difference:
    return QStringLiteral("Δ");
  default:
    return field(column).title;
  }
}

void CompareTableModel::sort(int column, Qt::SortOrder order) {
  if (column < 0 || column >= columnCount())
    return;
  sorted_ = true;
  sort_key_ = key(column);
  order_ = order;
  beginResetModel();
  sort_rows();
  endResetModel();
}

/// Without a value last in either order.
bool CompareTableModel::less(const Row& a, const Row& b) const {
  const bool ascending = order_ == Qt::AscendingOrder;
  const int index = view_.comparison().field(sort_key_);
  if (index < 0)
    return ascending ? name_of(a).localeAwareCompare(name_of(b)) < 0 : name_of(a).localeAwareCompare(name_of(b)) > 0;
  const CompareField& field = view_.comparison().fields[static_cast<std::size_t>(index)];
  if (field.ordinal) {
    const int one = field.ranks[a.runs.front()];
    const int other = field.ranks[b.runs.front()];
    return (one < 0) != (other < 0) ? other < 0 : ascending ? one < other : one > other;
  }
  const auto one = number(a, field);
  const auto other = number(b, field);
  if (!one || !other)
    return one.has_value() && !other.has_value();
  return ascending ? *one < *other : *one > *other;
}

void CompareTableModel::sort_rows() {
  if (sorted_)
    std::stable_sort(rows_.begin(), rows_.end(), [this](const Row& a, const Row& b) { return less(a, b); });
}

QJsonObject CompareTableModel::state() const {
  QJsonObject shown;
  for (auto each = shown_.begin(); each != shown_.end(); ++each)
    shown[each.key()] = each.value();
  QJsonObject state{{"only_differing", only_differing_}, {"shown", shown}};
  if (sorted_) {
    state["sort"] = sort_key_;
    state["descending"] = order_ == Qt::DescendingOrder;
  }
  if (baseline_)
    state["baseline"] = *baseline_;
  return state;
}

void CompareTableModel::restore(const QJsonObject& state) {
  only_differing_ = state["only_differing"].toBool(true);
  shown_.clear();
  const QJsonObject shown = state["shown"].toObject();
  for (auto each = shown.begin(); each != shown.end(); ++each)
    shown_[each.key()] = each.value().toBool();
  sorted_ = state.contains("sort");
  sort_key_ = state["sort"].toString();
  order_ = state["descending"].toBool() ? Qt::DescendingOrder : Qt::AscendingOrder;
  baseline_ = state.contains("baseline") ? std::optional<qint64>(state["baseline"].toInteger()) : std::nullopt;
  rebuild();
}

} // namespace batchscope::ui

#include "moc_compare_table_model.cpp"
