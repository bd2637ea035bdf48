#include "ui/sweep/metrics.h"

#include <QCoreApplication>

#include <cmath>

#include "ui/widgets/format.h"

namespace batchscope::ui {

namespace {

constexpr int loss_digits = 3;

QString metric_tr(const char* text) {
  return QCoreApplication::translate("Sweep", text);
}

} // namespace

const QList<Metric>& metrics() {
  static const QList<Metric> all{Metric::accuracy,   Metric::loss, Metric::training_loss,
                                 Metric::throughput, Metric::peak, Metric::time};
  return all;
}

QString metric_key(Metric metric) {
  switch (metric) {
  case Metric::accuracy:
    return QStringLiteral("accuracy");
  case Metric::loss:
    return QStringLiteral("loss");
  case Metric::training_loss:
    return QStringLiteral("training_loss");
  case Metric::throughput:
    return QStringLiteral("throughput");
  case Metric::peak:
    return QStringLiteral("peak");
  case Metric::time:
    break;
  }
  return QStringLiteral("time");
}

QString metric_title(Metric metric) {
  switch (metric) {
  case Metric::accuracy:
    return metric_tr("Validation accuracy");
  case Metric::loss:
    return metric_tr("Validation loss");
  case Metric::training_loss:
    return metric_tr("Training loss");
  case Metric::throughput:
    return metric_tr("Examples/s");
  case Metric::peak:
    return metric_tr("Peak memory");
  case Metric::time:
    break;
  }
  return metric_tr("Time");
}

QString metric_column(Metric metric) {
  switch (metric) {
  case Metric::accuracy:
    return metric_tr("Accuracy %");
  case Metric::loss:
    return metric_tr("Val. loss");
  case Metric::training_loss:
    return metric_tr("Train. loss");
  case Metric::peak:
    return metric_tr("Peak MB");
  default:
    return metric_title(metric);
  }
}

bool larger_is_better(Metric metric) {
  return metric == Metric::accuracy || metric == Metric::throughput;
}

std::optional<double> metric_value(Metric metric, const telemetry::RunOutcome& outcome) {
  std::optional<double> value;
  switch (metric) {
  case Metric::accuracy:
    value = outcome.validation_accuracy;
    break;
  case Metric::loss:
    value = outcome.validation_loss;
    break;
  case Metric::training_loss:
    value = outcome.loss;
    break;
  case Metric::throughput:
    if (outcome.examples_per_second > 0)
      value = outcome.examples_per_second;
    break;
  case Metric::peak:
    if (outcome.peak_bytes > 0)
      value = static_cast<double>(outcome.peak_bytes);
    break;
  case Metric::time:
    value = outcome.seconds;
    break;
  }
  return value && std::isfinite(*value) ? value : std::nullopt;
}

QString metric_number(Metric metric, double value) {
  switch (metric) {
  case Metric::accuracy:
    return QString::number(value * 100, 'f', 2);
  case Metric::loss:
  case Metric::training_loss:
    return format_number(value, loss_digits);
  case Metric::throughput:
    return format_count(std::llround(value));
  case Metric::peak:
    return format_megabytes(value);
  case Metric::time:
    break;
  }
  return format_duration(value);
}

QString metric_text(Metric metric, double value) {
  if (metric == Metric::accuracy)
    return format_percent(value);
  return metric == Metric::peak ? format_bytes(value) : metric_number(metric, value);
}

compare::MeanText metric_mean(Metric metric, const compare::Summary& summary) {
  using telemetry::ValueKind;
  if (summary.n == 1)
    return {metric_text(metric, summary.mean).toStdString(), {}};
  switch (metric) {
  case Metric::accuracy:
    return mean_text(ValueKind::fraction, summary);
  case Metric::peak:
    return mean_text(ValueKind::bytes, summary);
  case Metric::time:
    return mean_text(ValueKind::seconds, summary);
  case Metric::throughput:
    return mean_text(ValueKind::count, summary);
  default:
    return mean_text(ValueKind::number, summary);
  }
}

} // namespace batchscope::ui
