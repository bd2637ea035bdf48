#include "ui/sweep/metrics.h"

#include <QCoreApplication>

#include <cmath>

#include "core/telemetry/outcome_fields.h"
#include "ui/widgets/format.h"

namespace batchscope::ui {

namespace {

using telemetry::ValueKind;

constexpr int loss_digits = 3;

QString metric_tr(const char* text) {
  return QCoreApplication::translate("Sweep", text);
}

/// A result of a run as a sweep shows it.
struct ShownResult {
  Metric metric;
  const char* key;   ///< in the state of a page
  const char* field; ///< of the outcome
  const char* title;
  const char* column; ///< over a narrow column, with the unit
};

const ShownResult& shown(Metric metric) {
  static constexpr ShownResult all[] = {
      {Metric::accuracy, "accuracy", "validation_accuracy", QT_TRANSLATE_NOOP("Sweep", "Validation accuracy"),
       QT_TRANSLATE_NOOP("Sweep", "Accuracy %")},
      {Metric::loss, "loss", "validation_loss", QT_TRANSLATE_NOOP("Sweep", "Validation loss"),
       QT_TRANSLATE_NOOP("Sweep", "Val. loss")},
      {Metric::training_loss, "training_loss", "loss", QT_TRANSLATE_NOOP("Sweep", "Training loss"),
       QT_TRANSLATE_NOOP("Sweep", "Train. loss")},
      {Metric::throughput, "throughput", "examples_per_second", QT_TRANSLATE_NOOP("Sweep", "Examples/s"),
       QT_TRANSLATE_NOOP("Sweep", "Examples/s")},
      {Metric::peak, "peak", "peak_bytes", QT_TRANSLATE_NOOP("Sweep", "Peak memory"),
       QT_TRANSLATE_NOOP("Sweep", "Peak MB")},
      {Metric::time, "time", "seconds", QT_TRANSLATE_NOOP("Sweep", "Time"), QT_TRANSLATE_NOOP("Sweep", "Time")},
  };
  return all[static_cast<std::size_t>(metric)];
}

const telemetry::OutcomeField& field_of(Metric metric) {
  return *telemetry::find_outcome_field(shown(metric).field);
}

} // namespace

const QList<Metric>& metrics() {
  static const QList<Metric> all{Metric::accuracy,   Metric::loss, Metric::training_loss,
                                 Metric::throughput, Metric::peak, Metric::time};
  return all;
}

QString metric_key(Metric metric) {
  return QLatin1String(shown(metric).key);
}

QString metric_title(Metric metric) {
  return metric_tr(shown(metric).title);
}

QString metric_column(Metric metric) {
  return metric_tr(shown(metric).column);
}

bool larger_is_better(Metric metric) {
  return field_of(metric).better == telemetry::Better::larger;
}

std::optional<double> metric_value(Metric metric, const telemetry::RunOutcome& outcome) {
  const std::optional<double> value = telemetry::number_of(field_of(metric), outcome);
  return value && std::isfinite(*value) ? value : std::nullopt;
}

QString metric_number(Metric metric, double value) {
  switch (field_of(metric).kind) {
  case ValueKind::fraction:
    return QString::number(value * 100, 'f', 2);
  case ValueKind::amount:
    return format_count(std::llround(value));
  case ValueKind::bytes:
    return format_megabytes(value);
  case ValueKind::seconds:
    return format_duration(value);
  default:
    return format_number(value, loss_digits);
  }
}

QString metric_text(Metric metric, double value) {
  if (metric == Metric::accuracy)
    return format_percent(value);
  return metric == Metric::peak ? format_bytes(value) : metric_number(metric, value);
}

compare::MeanText metric_mean(Metric metric, const compare::Summary& summary) {
  if (summary.n == 1)
    return {metric_text(metric, summary.mean).toStdString(), {}};
  const ValueKind kind = field_of(metric).kind;
  return mean_text(kind == ValueKind::amount ? ValueKind::count : kind, summary);
}

} // namespace batchscope::ui
