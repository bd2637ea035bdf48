#include "ui/sweep/sweep_run_model.h"

#include <algorithm>
#include <numeric>

#include "core/run/spec_fields.h"
#include "core/sweep/variation.h"
#include "ui/texts/spec_texts.h"
#include "ui/widgets/format.h"

namespace batchscope::ui {

namespace {

/// Place of a stage in the order of the rows.
int rank_of(RunStage stage) {
  switch (stage) {
  case RunStage::running:
    return 0;
  case RunStage::starting:
    return 1;
  case RunStage::waiting:
    return 2;
  case RunStage::finished:
  case RunStage::ended:
  case RunStage::failed:
    return 3;
  default:
    return 4;
  }
}

bool shows_metric(Metric metric) {
  return metric != Metric::peak && metric != Metric::time; // those have columns of their own
}

std::optional<double> peak_of(const ShownRun& run) {
  if (run.outcome.peak_bytes > 0)
    return static_cast<double>(run.outcome.peak_bytes);
  return run.prediction.peak_bytes ? std::optional(static_cast<double>(*run.prediction.peak_bytes)) : std::nullopt;
}

std::optional<double> time_of(const ShownRun& run) {
  if (is_over(run.stage))
    return run.outcome.seconds;
  return run.seconds;
}

QVariant number(const std::optional<double>& value) {
  return value ? QVariant(*value) : QVariant();
}

} // namespace

bool is_numeric(const SweepRunModel& model, int column) {
  switch (model.column(column)) {
  case SweepRunModel::Column::field: {
    const auto& fields = model.view().content->fields;
    return sweep::is_numeric(run::spec_field(fields[static_cast<std::size_t>(column - 1)])) ||
           fields[static_cast<std::size_t>(column - 1)] == "batch";
  }
  case SweepRunModel::Column::status:
  case SweepRunModel::Column::actions:
    return false;
  default:
    return true;
  }
}

SweepRunModel::SweepRunModel(const Theme& theme, QObject* parent) : QAbstractTableModel(parent), theme_(theme) {
  connect(&theme, &Theme::changed, this, [this] {
    if (rowCount() > 0)
      Q_EMIT dataChanged(index(0, 0), index(rowCount() - 1, columnCount() - 1), {Qt::ForegroundRole});
  });
}

std::vector<std::size_t> SweepRunModel::order_of(const SweepView& view) const {
  std::vector<std::size_t> order(view.runs.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  if (!view.stored())
    return order;
  std::stable_sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) {
    const ShownRun& one = view.runs[a];
    const ShownRun& other = view.runs[b];
    if (rank_of(one.stage) != rank_of(other.stage))
      return rank_of(one.stage) < rank_of(other.stage);
    if (one.stage == RunStage::waiting)
      return one.place < other.place;
    return is_over(one.stage) && one.run > other.run;
  });
  return order;
}

bool SweepRunModel::same_columns(const SweepView& view, Metric metric) const {
  return view_.content && view.content && view_.content->fields == view.content->fields &&
         view_.stored() == view.stored() && shows_metric(metric) == shows_metric(metric_);
}

void SweepRunModel::show_sweep(const SweepView& view, Metric metric) {
  const bool same_sweep = same_columns(view, metric) && view_.content->sweep == view.content->sweep &&
                          view_.runs.size() == view.runs.size();
  if (!same_sweep) {
    beginResetModel();
    view_ = view;
    metric_ = metric;
    order_ = order_of(view_);
    endResetModel();
    return;
  }
  if (metric != metric_) {
    metric_ = metric;
    Q_EMIT headerDataChanged(Qt::Horizontal, 0, columnCount() - 1);
  }
  auto order = order_of(view);
  view_ = view;
  take_order(std::move(order));
  if (rowCount() > 0)
    Q_EMIT dataChanged(index(0, 0), index(rowCount() - 1, columnCount() - 1));
}

void SweepRunModel::take_order(std::vector<std::size_t> order) {
  if (order == order_)
    return;
  Q_EMIT layoutAboutToBeChanged();
  const auto before = std::exchange(order_, std::move(order));
  std::vector<int> row_of_entry(order_.size());
  for (std::size_t row = 0; row < order_.size(); ++row)
    row_of_entry[order_[row]] = static_cast<int>(row);
  for (const QModelIndex& old : persistentIndexList())
    changePersistentIndex(old, index(row_of_entry[before[static_cast<std::size_t>(old.row())]], old.column()));
  Q_EMIT layoutChanged();
}

int SweepRunModel::row_of(std::size_t entry) const {
  const auto found = std::find(order_.begin(), order_.end(), entry);
  return found == order_.end() ? -1 : static_cast<int>(found - order_.begin());
}

int SweepRunModel::rowCount(const QModelIndex& parent) const {
  return parent.isValid() ? 0 : static_cast<int>(order_.size());
}

int SweepRunModel::columnCount(const QModelIndex& parent) const {
  if (parent.isValid() || !view_.content)
    return 0;
  return static_cast<int>(1 + view_.content->fields.size() + columns_behind().size());
}

SweepRunModel::Column SweepRunModel::column(int column) const {
  const int fields = view_.content ? static_cast<int>(view_.content->fields.size()) : 0;
  if (column == 0)
    return Column::run;
  if (column <= fields)
    return Column::field;
  return columns_behind()[static_cast<std::size_t>(column - fields - 1)];
}

const std::vector<SweepRunModel::Column>& SweepRunModel::columns_behind() const {
  static const std::vector<Column> of_plan{Column::seed, Column::peak, Column::time, Column::status};
  static const std::vector<Column> with_value{Column::seed, Column::status, Column::peak,
                                              Column::time, Column::value,  Column::actions};
  static const std::vector<Column> without{Column::seed, Column::status, Column::peak, Column::time, Column::actions};
  if (!view_.stored())
    return of_plan;
  return shows_metric(metric_) ? with_value : without;
}

QString SweepRunModel::text(std::size_t entry, int at) const {
  const ShownRun& run = view_.runs[entry];
  const SweepEntry& planned = view_.content->entries[entry];
  switch (column(at)) {
  case Column::run:
    if (!run.run && run.stage == RunStage::missing)
      return QStringLiteral("–"); // numbers of other runs stand beside it
    return QString::number(run.run ? *run.run : static_cast<std::int64_t>(entry) + 1);
  case Column::field: {
    const std::string& key = view_.content->fields[field(at)];
    const std::string& value = planned.values[field(at)];
    const auto batch = run.outcome.batch ? run.outcome.batch : run.prediction.batch;
    if (key == "batch" && batch && std::to_string(*batch) != value)
      return QStringLiteral("%1 (%2)").arg(format_count(*batch), value_name(key, value));
    return value_name(key, value);
  }
  case Column::seed:
    return QString::number(planned.spec.seed);
  case Column::status: {
    const QString reason = run.stage == RunStage::planned ? QString::fromStdString(run.prediction.problem) : QString();
    return reason.isEmpty() ? stage_text(run) : reason;
  }
  case Column::peak: {
    const auto peak = peak_of(run);
    return peak ? format_megabytes(*peak) : QStringLiteral("–");
  }
  case Column::time: {
    const auto time = time_of(run);
    return time ? format_duration(*time) : QStringLiteral("–");
  }
  case Column::value: {
    const auto value = run.stage == RunStage::finished ? metric_value(metric_, run.outcome) : std::nullopt;
    return value ? metric_number(metric_, *value) : QString();
  }
  case Column::actions:
    break;
  }
  return {};
}

QVariant SweepRunModel::sort_key(std::size_t entry, int at) const {
  const ShownRun& run = view_.runs[entry];
  switch (column(at)) {
  case Column::run:
    return run.run ? QVariant::fromValue<qlonglong>(*run.run) : QVariant::fromValue<qlonglong>(entry);
  case Column::field: {
    const std::string& value = view_.content->entries[entry].values[field(at)];
    const auto batch = run.outcome.batch ? run.outcome.batch : run.prediction.batch;
    if (view_.content->fields[field(at)] == "batch" && batch)
      return QVariant::fromValue<qlonglong>(*batch);
    bool numeric = false;
    const double number = QString::fromStdString(value).toDouble(&numeric);
    return numeric ? QVariant(number) : QVariant(QString::fromStdString(value));
  }
  case Column::seed:
    return QVariant::fromValue<qulonglong>(view_.content->entries[entry].spec.seed);
  case Column::status:
    return rank_of(run.stage);
  case Column::peak:
    return number(peak_of(run));
  case Column::time:
    return number(time_of(run));
  case Column::value:
    return number(run.stage == RunStage::finished ? metric_value(metric_, run.outcome) : std::nullopt);
  case Column::actions:
    break;
  }
  return {};
}

QVariant SweepRunModel::foreground(const ShownRun& run, Column column) const {
  const bool to_come = !is_over(run.stage);
  if (column == Column::status) {
    if (run.stage == RunStage::failed || (to_come && run.in_doubt()))
      return theme_.color(Role::error);
    if (run.stage == RunStage::finished)
      return theme_.color(Role::good);
    return run.stage == RunStage::running ? QVariant() : theme_.color(Role::dimmed);
  }
  if (column == Column::peak && to_come && run.in_doubt())
    return theme_.color(Role::error);
  if (column == Column::run && !run.run)
    return theme_.color(Role::dimmed);
  return (column == Column::peak || column == Column::time) && to_come ? theme_.color(Role::dimmed) : QVariant();
}

QStringList SweepRunModel::actions(const ShownRun& run) const {
  if (run.stage == RunStage::waiting)
    return {QStringLiteral("↑"), QStringLiteral("↓"), tr("skip")};
  if (run.stage == RunStage::running)
    return {tr("stop")};
  return {};
}

QVariant SweepRunModel::data(const QModelIndex& index, int role) const {
  if (!index.isValid() || index.row() >= rowCount())
    return {};
  const std::size_t at = entry(index.row());
  const ShownRun& run = view_.runs[at];
  switch (role) {
  case Qt::DisplayRole:
    return text(at, index.column());
  case Qt::TextAlignmentRole:
    return QVariant::fromValue(
        Qt::Alignment(Qt::AlignVCenter | (is_numeric(*this, index.column()) ? Qt::AlignRight : Qt::AlignLeft)));
  case Qt::ForegroundRole:
    return foreground(run, column(index.column()));
  case Qt::ToolTipRole:
    return column(index.column()) == Column::status ? stage_reason(run) : QString();
  case sort_role:
    return sort_key(at, index.column());
  case actions_role:
    return actions(run);
  default:
    return {};
  }
}

QVariant SweepRunModel::headerData(int section, Qt::Orientation orientation, int role) const {
  if (orientation != Qt::Horizontal || section < 0 || section >= columnCount())
    return {};
  if (role == Qt::TextAlignmentRole)
    return QVariant::fromValue(
        Qt::Alignment(Qt::AlignVCenter | (is_numeric(*this, section) ? Qt::AlignRight : Qt::AlignLeft)));
  if (role != Qt::DisplayRole)
    return {};
  switch (column(section)) {
  case Column::run:
    return view_.stored() ? tr("Run") : tr("#");
  case Column::field:
    return field_label(view_.content->fields[field(section)]);
  case Column::seed:
    return tr("Seed");
  case Column::status:
    return tr("Status");
  case Column::peak:
    return tr("Peak MB");
  case Column::time:
    return tr("Time");
  case Column::value:
    return metric_column(metric_);
  case Column::actions:
    break;
  }
  return QString();
}

} // namespace batchscope::ui

#include "moc_sweep_run_model.cpp"
