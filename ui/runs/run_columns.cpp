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
#include "ui/texts/run_status.h"
#include "ui/widgets/format.h"

namespace batchscope::ui {

namespace {

using store::RunRow;

constexpr int bytes_in_megabyte = 1'000'000;

template <auto Member> std::optional<double> of_row(const RunRow& run) {
  const auto& value = run.*Member;
  if constexpr (requires { value.has_value(); })
    return value ? std::optional<double>(static_cast<double>(*value)) : std::nullopt;
  else
    return static_cast<double>(value);
}

template <auto Member> std::optional<double> of_outcome(const RunRow& run) {
  const auto& value = run.outcome.*Member;
  if constexpr (requires { value.has_value(); })
    return value ? std::optional<double>(static_cast<double>(*value)) : std::nullopt;
  else
    return static_cast<double>(value);
}

/// For values that a run has only after its first step.
template <auto Member> std::optional<double> of_steps(const RunRow& run) {
  return run.outcome.steps > 0 ? of_outcome<Member>(run) : std::nullopt;
}

using Number = std::optional<double> (*)(const RunRow&);

/// For values of which 0 says that they are not known.
template <auto Member> std::optional<double> known(const RunRow& run) {
  const auto value = of_outcome<Member>(run);
  return value == 0.0 ? std::nullopt : value;
}

template <auto Member> std::string text_of(const RunRow& run) {
  return run.*Member;
}

template <auto Member> std::string setting(const RunRow& run) {
  return (run.settings.*Member).value_or("");
}

template <auto Member> QString shown_setting(const RunRow& run) {
  return QString::fromStdString(setting<Member>(run));
}

std::optional<double> learning_rate(const RunRow& run) {
  return run.settings.learning_rate;
}

std::string status_of(const RunRow& run) {
  return telemetry::to_string(run.outcome.status);
}

template <Number Get> QString plain(const RunRow& run) {
  const auto value = Get(run);
  return value ? QString::number(static_cast<qint64>(*value)) : QString();
}

template <Number Get> QString whole(const RunRow& run) {
  const auto value = Get(run);
  if (!value)
    return {};
  return std::isfinite(*value) ? format_count(std::llround(*value)) : format_number(*value);
}

/// The value times `Times` divided by `By`, for display in another unit.
template <Number Get, int Decimals, int Times = 1, int By = 1> QString fixed(const RunRow& run) {
  const auto value = Get(run);
  if (!value)
    return {};
  if (!std::isfinite(*value))
    return format_number(*value);
  QLocale locale;
  locale.setNumberOptions(QLocale::DefaultNumberOptions);
  return locale.toString(*value * Times / By, 'f', Decimals);
}

template <Number Get> QString significant(const RunRow& run) {
  const auto value = Get(run);
  return value ? format_number(*value) : QString();
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

QString shown_status(const RunRow& run) {
  return status_text(status_name(run.outcome.status));
}

template <auto Member> QString as_it_is(const RunRow& run) {
  return QString::fromStdString(run.*Member);
}

std::string tags(const RunRow& run) {
  std::string text;
  for (const std::string& tag : run.tags)
    text += (text.empty() ? "" : ", ") + tag;
  return text;
}

QString shown_tags(const RunRow& run) {
  return QString::fromStdString(tags(run));
}

/// In the user's time zone; the year only if it is not the current one.
QString shown_start(const RunRow& run) {
  auto time = QDateTime::fromString(QString::fromStdString(run.started), Qt::ISODate);
  if (!time.isValid())
    return QString::fromStdString(run.started);
  if (time.timeSpec() == Qt::LocalTime)
    time.setTimeZone(QTimeZone::utc());
  time = time.toLocalTime();
  const bool this_year = time.date().year() == QDate::currentDate().year();
  return QLocale().toString(time, this_year ? QStringLiteral("d MMM HH:mm") : QStringLiteral("d MMM yyyy"));
}

} // namespace

#define TEXT(source) QT_TRANSLATE_NOOP("RunTable", source)

const std::vector<RunColumn>& run_columns() {
  using Row = store::RunRow;
  using Out = telemetry::RunOutcome;
  using Settings = store::RunSettings;
  static const std::vector<RunColumn> columns = {
      {"id", TEXT("Run"), TEXT("Number of the run, for the command line"), 4, true, true, of_row<&Row::id>, nullptr,
       plain<of_row<&Row::id>>},
      {"name", TEXT("Name"), TEXT("Press F2 to rename"), 25, true, false, nullptr, text_of<&Row::name>, shown_name},
      {"status", TEXT("Status"), TEXT("How the run ended, or its progress"), 13, true, false, nullptr, status_of,
       shown_status},
      {"batch", TEXT("Batch"), TEXT("First nominal batch size, in examples"), 5, true, false, of_outcome<&Out::batch>,
       nullptr, whole<of_outcome<&Out::batch>>},
      {"steps", TEXT("Steps"), TEXT("Optimizer steps done"), 6, true, false, of_outcome<&Out::steps>, nullptr,
       whole<of_outcome<&Out::steps>>},
      {"epoch", TEXT("Epoch"), TEXT("Passes over the training data so far"), 5, true, false, known<&Out::epoch>,
       nullptr, fixed<known<&Out::epoch>, 2>},
      {"loss", TEXT("Loss"), TEXT("Training loss of the last step"), 7, true, false, of_outcome<&Out::loss>, nullptr,
       significant<of_outcome<&Out::loss>>},
      {"validation_loss", TEXT("Validation loss"), TEXT("Of the last evaluation"), 8, false, false,
       of_outcome<&Out::validation_loss>, nullptr, significant<of_outcome<&Out::validation_loss>>},
      {"validation_accuracy", TEXT("Accuracy %"), TEXT("Validation accuracy of the last evaluation"), 6, true, false,
       of_outcome<&Out::validation_accuracy>, nullptr, fixed<of_outcome<&Out::validation_accuracy>, 2, 100>},
      {"peak_bytes", TEXT("Peak MB"), TEXT("Peak memory in use"), 7, true, false, known<&Out::peak_bytes>, nullptr,
       fixed<known<&Out::peak_bytes>, 1, 1, bytes_in_megabyte>},
      {"examples_per_second", TEXT("Examples/s"),
       TEXT("Examples per second of training; pauses and evaluations are excluded"), 7, true, false,
       known<&Out::examples_per_second>, nullptr, whole<known<&Out::examples_per_second>>},
      {"disturbed", TEXT("Disturbed %"),
       TEXT("Fraction of the time that other work on the machine took: the run would have been faster without it"), 6,
       false, false, of_outcome<&Out::disturbed>, nullptr, fixed<of_outcome<&Out::disturbed>, 0, 100>},
      {"oom_events", TEXT("OOMs"), TEXT("Out-of-memory errors during the run"), 4, true, false,
       of_outcome<&Out::oom_events>, nullptr, whole<of_outcome<&Out::oom_events>>},
      {"seconds", TEXT("Time s"), TEXT("Time since the start of the run; pauses are excluded, evaluations included"), 7,
       true, false, of_steps<&Out::seconds>, nullptr, fixed<of_steps<&Out::seconds>, 1>},
      {"started", TEXT("Started"), TEXT("Start time, in your time zone"), 12, true, true, nullptr,
       text_of<&Row::started>, shown_start},
      {"sweep", TEXT("Sweep"), TEXT("Number of the sweep that the run belongs to"), 4, true, true, of_row<&Row::sweep>,
       nullptr, plain<of_row<&Row::sweep>>},
      {"model", TEXT("Model"), TEXT("Model and its sizes, or the command of your own program"), 16, false, false,
       nullptr, setting<&Settings::model>, shown_setting<&Settings::model>},
      {"data", TEXT("Data"), TEXT("Training data"), 16, false, false, nullptr, setting<&Settings::data>,
       shown_setting<&Settings::data>},
      {"schedule", TEXT("Schedule"), TEXT("Schedule of the batch size at the start of the run"), 16, false, false,
       nullptr, setting<&Settings::schedule>, shown_setting<&Settings::schedule>},
      {"optimizer", TEXT("Optimizer"), TEXT("Optimizer that updated the weights"), 6, false, false, nullptr,
       setting<&Settings::optimizer>, shown_setting<&Settings::optimizer>},
      {"lr", TEXT("Learning rate"), TEXT("Learning rate at the reference batch size"), 7, false, false, learning_rate,
       nullptr, significant<learning_rate>},
      {"tags", TEXT("Tags"), TEXT("Your own tags; press Ctrl+G to edit"), 12, false, true, nullptr, tags, shown_tags},
      {"note", TEXT("Note"), TEXT("Your own note; press Shift+F2 to edit"), 7, true, true, nullptr, text_of<&Row::note>,
       as_it_is<&Row::note>},
  };
  return columns;
}

#undef TEXT

int run_column(const QString& key) {
  const auto& columns = run_columns();
  const auto found =
      std::find_if(columns.begin(), columns.end(), [&](const RunColumn& column) { return key == column.key; });
  return found == columns.end() ? -1 : static_cast<int>(found - columns.begin());
}

QString column_title(const RunColumn& column) {
  return QCoreApplication::translate("RunTable", column.title);
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
