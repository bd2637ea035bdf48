#include "ui/runs/run_columns.h"

#include <QCoreApplication>
#include <QDateTime>
#include <QLocale>
#include <QTimeZone>

#include <algorithm>
#include <cmath>

#include "core/base/error.h"
#include "core/base/shell_words.h"
#include "core/run/program_spec.h"
#include "core/telemetry/outcome_fields.h"
#include "ui/texts/run_status.h"
#include "ui/widgets/format.h"

namespace batchscope::ui {

namespace {

using store::RunRow;
using telemetry::OutcomeField;
using telemetry::ValueKind;

/// How a number is shown: in a unit of which one is `scale` of the stored ones.
struct Shown {
  const char* unit = "";
  double scale = 1;
  int decimals = -1; ///< -1: as many as its size needs
};

Shown shown_as(const OutcomeField& field) {
  switch (field.kind) {
  case ValueKind::bytes:
    return {"MB", 1e6, 1};
  case ValueKind::fraction:
    return {"%", 0.01, field.of == telemetry::DependsOn::learning ? 2 : 0};
  case ValueKind::seconds:
    return {"s", 1, 1};
  case ValueKind::count:
    return {"", 1, 0};
  case ValueKind::amount:
    return {"", 1, field.of == telemetry::DependsOn::speed ? 0 : 2};
  default:
    return {};
  }
}

QString number_text(double value, const Shown& shown) {
  if (!std::isfinite(value) || shown.decimals < 0)
    return format_number(value);
  QLocale locale;
  locale.setNumberOptions(QLocale::DefaultNumberOptions);
  return locale.toString(value / shown.scale, 'f', shown.decimals);
}

/// Those that few look for at first.
bool is_shown(const OutcomeField& field) {
  const std::string_view name = field.name;
  return name != "validation_loss" && name != "disturbed";
}

RunColumn result_column(const OutcomeField& field) {
  const Shown shown = shown_as(field);
  const int characters = field.of == telemetry::DependsOn::learning && field.kind == ValueKind::count ? 5 : 7;
  RunColumn column{.key = field.name,
                   .title = field.column,
                   .help = field.help,
                   .characters = characters,
                   .shown = is_shown(field),
                   .dimmed = false,
                   .unit = shown.unit};
  // Time has passed once there was a step.
  column.number = [&field](const RunRow& run) {
    return field.kind == ValueKind::seconds && run.outcome.steps == 0 ? std::nullopt
                                                                      : telemetry::number_of(field, run.outcome);
  };
  column.shown_text = [number = column.number, shown](const RunRow& run) {
    const auto value = number(run);
    return value ? number_text(*value, shown) : QString();
  };
  return column;
}

/// In the order in which they are read: what the run did, what it learnt, what that took. Further ones follow.
std::vector<RunColumn> result_columns() {
  constexpr const char* first[] = {"batch",           "steps",
                                   "epoch",           "loss",
                                   "validation_loss", "validation_accuracy",
                                   "peak_bytes",      "examples_per_second",
                                   "disturbed",       "oom_events",
                                   "seconds"};
  std::vector<RunColumn> columns;
  for (const char* name : first)
    columns.push_back(result_column(*telemetry::find_outcome_field(name)));
  for (const OutcomeField& field : telemetry::outcome_fields())
    if (field.column && std::find(std::begin(first), std::end(first), std::string_view(field.name)) == std::end(first))
      columns.push_back(result_column(field));
  return columns;
}

RunColumn number_column(const RunColumn& column, std::function<std::optional<double>(const RunRow&)> number) {
  RunColumn made = column;
  made.shown_text = [number](const RunRow& run) {
    const auto value = number(run);
    return value ? format_number(*value) : QString();
  };
  made.number = std::move(number);
  return made;
}

RunColumn text_column(const RunColumn& column, std::function<std::string(const RunRow&)> text) {
  RunColumn made = column;
  made.shown_text = [text](const RunRow& run) { return QString::fromStdString(text(run)); };
  made.text = std::move(text);
  return made;
}

/// Without a name, what it trains.
QString shown_name(const RunRow& run) {
  if (!run.name.empty())
    return QString::fromStdString(run.name);
  const std::string model = run.settings.model.value_or("");
  if (!run.settings.program)
    return model.empty()
               ? QString()
               : QCoreApplication::translate("RunTable", "%1 on %2")
                     .arg(QString::fromStdString(model), QString::fromStdString(run.settings.data.value_or("")));
  try {
    return QString::fromStdString(run::program_name({.command = shell_words(model, "command")}));
  } catch (const Error&) {
    return QString::fromStdString(model); // of a version that wrote it in another way
  }
}

std::string tags(const RunRow& run) {
  std::string text;
  for (const std::string& tag : run.tags)
    text += (text.empty() ? "" : ", ") + tag;
  return text;
}

bool has_started(const RunRow& run) {
  return run.outcome.status != telemetry::RunStatus::queued;
}

/// In the user's time zone; the year only if it is not the current one. Empty for a run that waits.
QString shown_start(const RunRow& run) {
  if (!has_started(run))
    return {};
  auto time = QDateTime::fromString(QString::fromStdString(run.started), Qt::ISODate);
  if (!time.isValid())
    return QString::fromStdString(run.started);
  if (time.timeSpec() == Qt::LocalTime)
    time.setTimeZone(QTimeZone::utc());
  time = time.toLocalTime();
  const bool this_year = time.date().year() == QDate::currentDate().year();
  return QLocale().toString(time, this_year ? QStringLiteral("d MMM HH:mm") : QStringLiteral("d MMM yyyy"));
}

#define TEXT(source) QT_TRANSLATE_NOOP("RunTable", source)

std::vector<RunColumn> columns_before_results() {
  RunColumn name = text_column({"name", TEXT("Name"), TEXT("Press F2 to rename"), 25, true, false},
                               [](const RunRow& run) { return run.name; });
  name.shown_text = shown_name;
  RunColumn status =
      text_column({"status", TEXT("Status"), TEXT("How the run ended, or its progress"), 13, true, false},
                  [](const RunRow& run) { return telemetry::to_string(run.outcome.status); });
  status.shown_text = [](const RunRow& run) { return status_text(status_name(run.outcome.status)); };
  RunColumn id = number_column({"id", TEXT("Run"), TEXT("Number of the run, for the command line"), 4, true, true},
                               [](const RunRow& run) { return std::optional(static_cast<double>(run.id)); });
  id.shown_text = [](const RunRow& run) { return QString::number(run.id); };
  return {id, name, status};
}

std::vector<RunColumn> columns_after_results() {
  const auto setting = [](std::optional<std::string> store::RunSettings::*member) {
    return [member](const RunRow& run) { return (run.settings.*member).value_or(""); };
  };
  using Settings = store::RunSettings;
  RunColumn started = text_column({"started", TEXT("Started"), TEXT("Start time, in your time zone"), 12, true, true},
                                  [](const RunRow& run) { return has_started(run) ? run.started : std::string(); });
  started.shown_text = shown_start;
  RunColumn sweep = number_column(
      {"sweep", TEXT("Sweep"), TEXT("Number of the sweep that the run belongs to"), 4, true, true},
      [](const RunRow& run) { return run.sweep ? std::optional(static_cast<double>(*run.sweep)) : std::nullopt; });
  sweep.shown_text = [](const RunRow& run) { return run.sweep ? QString::number(*run.sweep) : QString(); };
  return {
      started,
      sweep,
      text_column(
          {"model", TEXT("Model"), TEXT("Model and its sizes, or the command of your own program"), 16, false, false},
          setting(&Settings::model)),
      text_column({"data", TEXT("Data"), TEXT("Training data"), 16, false, false}, setting(&Settings::data)),
      text_column(
          {"schedule", TEXT("Schedule"), TEXT("Schedule of the batch size at the start of the run"), 16, false, false},
          setting(&Settings::schedule)),
      text_column({"optimizer", TEXT("Optimizer"), TEXT("Optimizer that updated the weights"), 6, false, false},
                  setting(&Settings::optimizer)),
      number_column({"lr", TEXT("Learning rate"), TEXT("Learning rate at the reference batch size"), 7, false, false},
                    [](const RunRow& run) { return run.settings.learning_rate; }),
      text_column({"tags", TEXT("Tags"), TEXT("Your own tags; press Ctrl+G to edit"), 12, false, true}, tags),
      text_column({"note", TEXT("Note"), TEXT("Your own note; press Shift+F2 to edit"), 7, true, true},
                  [](const RunRow& run) { return run.note; }),
  };
}

#undef TEXT

std::vector<RunColumn> all_columns() {
  std::vector<RunColumn> columns = columns_before_results();
  for (const auto& more : {result_columns(), columns_after_results()})
    columns.insert(columns.end(), more.begin(), more.end());
  return columns;
}

} // namespace

const std::vector<RunColumn>& run_columns() {
  static const std::vector<RunColumn> columns = all_columns();
  return columns;
}

int run_column(const QString& key) {
  const auto& columns = run_columns();
  const auto found =
      std::find_if(columns.begin(), columns.end(), [&](const RunColumn& column) { return key == column.key; });
  return found == columns.end() ? -1 : static_cast<int>(found - columns.begin());
}

int note_column() {
  return static_cast<int>(run_columns().size()) - 1;
}

QString column_title(const RunColumn& column) {
  const QString title = QCoreApplication::translate("RunTable", column.title);
  return *column.unit == '\0' ? title : title + u' ' + QLatin1String(column.unit);
}

QString column_help(const RunColumn& column) {
  return QCoreApplication::translate("RunTable", column.help);
}

QString copied_text(const RunColumn& column, const store::RunRow& run) {
  if (column.text)
    return QString::fromStdString(column.text(run));
  const auto value = column.number(run);
  if (!value)
    return {};
  if (std::isnan(*value))
    return QStringLiteral("NaN");
  if (std::isinf(*value))
    return *value > 0 ? QStringLiteral("Infinity") : QStringLiteral("-Infinity");
  constexpr double exact = 9007199254740992; // 2^53
  if (std::trunc(*value) == *value && std::abs(*value) <= exact)
    return QString::number(static_cast<qint64>(*value)); // never as 1e+08
  return QString::number(*value, 'g', QLocale::FloatingPointShortest);
}

} // namespace batchscope::ui
