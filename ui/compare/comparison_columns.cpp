#include "ui/compare/comparison_columns.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <limits>
#include <optional>
#include <set>

#include "ui/plot/units.h"

namespace batchscope::ui {

namespace {

using telemetry::ValueKind;

constexpr double none = std::numeric_limits<double>::quiet_NaN();

/// A number, or the text of one: arguments of a program are texts.
std::optional<double> number_in(const Json& value) {
  if (value.is_number())
    return value.get<double>();
  if (!value.is_string())
    return std::nullopt;
  const auto& text = value.get_ref<const std::string&>();
  double number = 0;
  const auto read = std::from_chars(text.data(), text.data() + text.size(), number);
  const bool whole = read.ec == std::errc() && read.ptr == text.data() + text.size();
  return whole && std::isfinite(number) ? std::optional(number) : std::nullopt;
}

/// Numbers before texts; no other values are compared.
bool value_less(const Json& a, const Json& b) {
  const auto one = number_in(a);
  const auto other = number_in(b);
  if (one && other && *one != *other)
    return *one < *other;
  return one.has_value() != other.has_value() ? one.has_value() : a < b;
}

bool has_value(const Json& value) {
  return !value.is_null() && value != "" && value != "NaN";
}

void rank_values(CompareField& field) {
  std::vector<const Json*> order;
  for (const Json& value : field.column.values)
    if (has_value(value))
      order.push_back(&value);
  std::sort(order.begin(), order.end(), [](const Json* a, const Json* b) { return value_less(*a, *b); });
  order.erase(std::unique(order.begin(), order.end(), [](const Json* a, const Json* b) { return *a == *b; }),
              order.end());
  field.different = static_cast<int>(order.size());
  field.ordinal = std::any_of(order.begin(), order.end(), [](const Json* value) { return !number_in(*value); });
  for (const Json& value : field.column.values) {
    field.numbers.push_back(number_in(value).value_or(none));
    const auto found = std::lower_bound(order.begin(), order.end(), &value,
                                        [](const Json* a, const Json* b) { return value_less(*a, *b); });
    field.ranks.push_back(has_value(value) ? static_cast<int>(found - order.begin()) : -1);
  }
}

CompareField make_field(const QString& key, CompareField::Origin origin, compare::Column column) {
  CompareField field;
  field.key = key;
  field.title = QString::fromStdString(compare::title(column));
  field.origin = origin;
  field.column = std::move(column);
  rank_values(field);
  return field;
}

CompareField series_field(const QString& key, const std::string& series, const QString& what,
                          const std::vector<double>& numbers) {
  compare::Column column{.key = series, .kind = telemetry::quantity_of(series).kind, .values = {}, .numeric = true};
  for (const double number : numbers)
    column.values.push_back(std::isfinite(number) ? Json(number) : Json(nullptr));
  CompareField field = make_field(key, CompareField::Origin::series, std::move(column));
  if (series == "batch") // of the step, where the result of that name is the first one
    field.title = QStringLiteral("batch size");
  field.title += u' ' + what;
  return field;
}

/// The batch size is what most is about; the seed only tells repeats apart.
std::vector<std::string> in_order(std::vector<std::string> settings) {
  const auto rank = [](const std::string& key) { return key == "batch" ? 0 : key == "seed" ? 2 : 1; };
  std::stable_sort(settings.begin(), settings.end(),
                   [&](const std::string& a, const std::string& b) { return rank(a) < rank(b); });
  return settings;
}

/// Last, smallest and largest value of each series.
void add_series(const std::vector<ReadRun>& runs, std::vector<CompareField>& fields) {
  struct Values {
    std::vector<double> last, min, max;
  };
  std::map<std::string, Values> all;
  for (std::size_t i = 0; i < runs.size(); ++i)
    for (const store::SeriesSummary& series : runs[i].series) {
      if (telemetry::is_peak_series(series.name)) // parts of peak_bytes, stored where they change
        continue;
      Values& values = all[series.name];
      for (auto* each : {&values.last, &values.min, &values.max})
        each->resize(runs.size(), none);
      values.last[i] = series.last;
      values.min[i] = series.min;
      values.max[i] = series.max;
    }
  for (auto& [name, values] : all) {
    const QString key = QString::fromStdString(name);
    fields.push_back(series_field(key + ":last", name, QStringLiteral("last"), values.last));
    fields.push_back(series_field(key + ":min", name, QStringLiteral("min"), values.min));
    fields.push_back(series_field(key + ":max", name, QStringLiteral("max"), values.max));
  }
}

void add_values(const std::vector<ReadRun>& runs, std::vector<CompareField>& fields) {
  std::vector<SeriesAt> wanted;
  for (const ReadRun& run : runs)
    for (const auto& [at, value] : run.values)
      if (std::find(wanted.begin(), wanted.end(), at) == wanted.end())
        wanted.push_back(at);
  for (const SeriesAt& at : wanted) {
    std::vector<double> numbers(runs.size(), none);
    for (std::size_t i = 0; i < runs.size(); ++i)
      for (const auto& [where, value] : runs[i].values)
        if (where == at)
          numbers[i] = value;
    fields.push_back(series_field(QStringLiteral("%1@%2").arg(QString::fromStdString(at.series)).arg(at.step),
                                  at.series, QStringLiteral("at step %1").arg(at.step), numbers));
  }
}

} // namespace

QString CompareField::text(std::size_t run) const {
  return ranks[run] < 0 ? QString() : QString::fromStdString(compare::text(column, run));
}

QString CompareField::text_of(double value) const {
  return QString::fromStdString(compare::text_of(column, value));
}

double CompareField::factor() const {
  return plot_unit(column.kind).factor;
}

QString CompareField::unit() const {
  return plot_unit(column.kind).name;
}

std::optional<bool> CompareField::larger_is_better() const {
  if (origin == Origin::setting)
    return column.key == "batch" ? std::optional(false) : std::nullopt; // of two sizes that do the same, the smaller
  const telemetry::Better better = telemetry::quantity_of(column.key).better;
  return better == telemetry::Better::unknown ? std::nullopt : std::optional(better == telemetry::Better::larger);
}

bool CompareField::has_mean() const {
  return !ordinal && origin != Origin::setting && key != QLatin1String("result:batch");
}

compare::Summary Comparison::summary(const CompareField& field, const std::vector<std::size_t>& of) const {
  return compare::summary_of(compared, of, field.numbers, telemetry::quantity_of(field.column.key).of);
}

int Comparison::field(const QString& key) const {
  const auto found =
      std::find_if(fields.begin(), fields.end(), [&](const CompareField& field) { return field.key == key; });
  return found == fields.end() ? -1 : static_cast<int>(found - fields.begin());
}

QString Comparison::run_name(std::size_t run) const {
  const store::RunRow& row = runs()[run].row;
  return row.name.empty() ? QStringLiteral("Run %1").arg(row.id) : QString::fromStdString(row.name);
}

Comparison make_comparison(const std::vector<ReadRun>& runs) {
  std::vector<compare::ComparedRun> compared;
  for (const ReadRun& run : runs)
    compared.push_back(run.run);
  Comparison comparison{compare::Comparison(std::move(compared)), {}};
  if (runs.empty())
    return comparison;
  const compare::Settings& settings = comparison.compared.settings;
  for (const auto& keys : {in_order(settings.differing), settings.same})
    for (compare::Column& column : compare::setting_columns(comparison.runs(), keys)) {
      const QString key = QString::fromStdString(column.key);
      comparison.fields.push_back(make_field(key, CompareField::Origin::setting, std::move(column)));
    }
  for (compare::Column& column : compare::metric_columns(comparison.compared)) {
    const QString key = QStringLiteral("result:") + QString::fromStdString(column.key);
    comparison.fields.push_back(make_field(key, CompareField::Origin::result, std::move(column)));
  }
  add_series(runs, comparison.fields);
  add_values(runs, comparison.fields);
  return comparison;
}

RunGroups group_by(const Comparison& comparison, const QString& key) {
  RunGroups result{key, {}};
  if (key == QLatin1String("repeats")) {
    for (const compare::Group& group : comparison.compared.groups)
      result.groups.push_back(group.runs);
    return result;
  }
  const int index = comparison.field(key);
  if (index < 0) {
    result.field.clear();
    for (std::size_t run = 0; run < comparison.runs().size(); ++run)
      result.groups.push_back({run});
    return result;
  }
  const CompareField& field = comparison.fields[static_cast<std::size_t>(index)];
  std::map<int, std::vector<std::size_t>> groups;
  for (std::size_t run = 0; run < comparison.runs().size(); ++run)
    groups[field.ranks[run] < 0 ? field.different : field.ranks[run]].push_back(run);
  for (auto& [rank, runs] : groups)
    result.groups.push_back(std::move(runs));
  return result;
}

QString group_name(const Comparison& comparison, const RunGroups& groups, std::size_t group) {
  const std::vector<std::size_t>& runs = groups.groups[group];
  if (groups.field.isEmpty())
    return comparison.run_name(runs.front());
  if (groups.field == QLatin1String("repeats")) {
    const QString label = QString::fromStdString(comparison.compared.groups[group].label());
    return label.isEmpty() ? comparison.run_name(runs.front()) : label;
  }
  const CompareField& field = comparison.fields[static_cast<std::size_t>(comparison.field(groups.field))];
  const QString text = field.text(runs.front());
  return QStringLiteral("%1 %2").arg(field.title, text.isEmpty() ? QStringLiteral("–") : text);
}

} // namespace batchscope::ui
