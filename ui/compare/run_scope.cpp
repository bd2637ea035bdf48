#include "ui/compare/run_scope.h"

#include <QJsonArray>
#include <QStringList>

#include <algorithm>
#include <cmath>

#include "core/filter/condition.h"

namespace batchscope::ui {

namespace {

/// Number of the run's own fields that conditions may compare; the comparison's fields follow them.
constexpr std::size_t own_fields = 3;

bool is_comparison(const QString& text) {
  return text.contains(u'=') || text.contains(u'<') || text.contains(u'>');
}

std::vector<filter::Field> filter_fields(const Comparison& comparison) {
  std::vector<filter::Field> fields{{.name = "id", .kind = telemetry::ValueKind::count},
                                    {.name = "name", .is_text = true},
                                    {.name = "tags", .is_text = true, .is_list = true, .short_name = "tag"}};
  for (const CompareField& field : comparison.fields) {
    // A result with the name of a setting (the first batch) is found as result.batch.
    std::string name = field.origin == CompareField::Origin::series ? field.key.toStdString() : field.column.key;
    std::replace(name.begin(), name.end(), ':', '.');
    std::replace(name.begin(), name.end(), '@', '.');
    if (std::any_of(fields.begin(), fields.end(), [&](const filter::Field& each) { return each.name == name; }))
      name = "result." + name;
    fields.push_back({.name = name, .kind = field.column.kind, .is_text = field.ordinal});
    if (field.origin == CompareField::Origin::result)
      for (const telemetry::OutcomeField& outcome : telemetry::outcome_fields())
        if (outcome.name == field.column.key && outcome.short_name)
          fields.back().short_name = outcome.short_name;
  }
  return fields;
}

/// A run's values for a condition; `result` gets the title of one that a mean is made of.
class RunValues : public filter::Values {
public:
  RunValues(const Comparison& comparison, std::size_t run, QString& result)
      : comparison_(comparison), run_(run), result_(result) {}

  std::optional<double> number(std::size_t field) const override {
    if (field < own_fields)
      return static_cast<double>(comparison_.runs()[run_].row.id);
    const CompareField& shown = comparison_.fields[field - own_fields];
    if (shown.has_mean())
      result_ = shown.title;
    return shown.ranks[run_] < 0 ? std::nullopt : std::optional(shown.numbers[run_]);
  }
  std::optional<std::string> text(std::size_t field) const override {
    if (field < own_fields)
      return comparison_.runs()[run_].row.name;
    const CompareField& shown = comparison_.fields[field - own_fields];
    return shown.ranks[run_] < 0 ? std::nullopt : std::optional(shown.text(run_).toStdString());
  }

  std::vector<std::string> texts(std::size_t /*field*/) const override { return comparison_.runs()[run_].row.tags; }

private:
  const Comparison& comparison_;
  std::size_t run_;
  QString& result_;
};

/// Texts of a run in which words are searched.
QString words_of(const Comparison& comparison, std::size_t run) {
  QString words = comparison.run_name(run);
  for (const std::string& tag : comparison.runs()[run].row.tags)
    words += u' ' + QString::fromStdString(tag);
  for (const CompareField& field : comparison.fields)
    if (field.origin != CompareField::Origin::series && field.ordinal)
      words += u' ' + field.text(run);
  return words.toLower();
}

} // namespace

bool RunScope::contains(const store::RunRow& row) const {
  switch (kind) {
  case Kind::sweep:
    return row.sweep == sweep;
  case Kind::chosen:
    return std::find(runs.begin(), runs.end(), row.id) != runs.end();
  default:
    return true;
  }
}

QJsonObject RunScope::state() const {
  QJsonArray chosen;
  for (const std::int64_t run : runs)
    chosen.append(qint64(run));
  return {{"kind", static_cast<int>(kind)}, {"sweep", qint64(sweep)}, {"runs", chosen}};
}

RunScope RunScope::from(const QJsonObject& state) {
  RunScope scope;
  if (const int kind = state["kind"].toInt(); kind >= 0 && kind <= static_cast<int>(Kind::chosen))
    scope.kind = static_cast<Kind>(kind);
  scope.sweep = state["sweep"].toInteger();
  for (const QJsonValue& run : state["runs"].toArray())
    scope.runs.push_back(run.toInteger());
  return scope;
}

CompareFilter::CompareFilter(const Comparison& comparison, const QString& text) : comparison_(comparison) {
  const QString trimmed = text.trimmed();
  if (is_comparison(trimmed)) {
    const filter::Condition condition =
        filter::parse_condition(trimmed.toStdString(), filter_fields(comparison), "Filter");
    accepts_ = [&comparison, condition](std::size_t run, QString& result) {
      return condition(RunValues(comparison, run, result));
    };
  } else {
    const QStringList words = trimmed.toLower().split(u' ', Qt::SkipEmptyParts);
    accepts_ = [&comparison, words](std::size_t run, QString& /*result*/) {
      if (words.isEmpty())
        return true;
      const QString texts = words_of(comparison, run);
      return std::all_of(words.begin(), words.end(), [&](const QString& word) { return texts.contains(word); });
    };
  }
}

CompareFilter::Selection CompareFilter::apply() const {
  Selection selection;
  for (std::size_t run = 0; run < comparison_.runs().size(); ++run)
    if (accepts_(run, selection.result))
      selection.runs.push_back(run);
  return selection;
}

QStringList CompareFilter::fields(const Comparison& comparison) {
  QStringList names;
  for (const filter::Field& field : filter_fields(comparison))
    names.append(QString::fromStdString(field.name));
  return names;
}

} // namespace batchscope::ui
