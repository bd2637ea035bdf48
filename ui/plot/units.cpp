#include "ui/plot/units.h"

namespace batchscope::ui {

PlotUnit plot_unit(telemetry::ValueKind kind) {
  switch (kind) {
  case telemetry::ValueKind::bytes:
    return {QStringLiteral("MB"), to_megabytes};
  case telemetry::ValueKind::fraction:
    return {QStringLiteral("%"), to_percent};
  case telemetry::ValueKind::seconds:
    return {QStringLiteral("s"), 1};
  default:
    return {};
  }
}

QString series_title(QString series) {
  return series.replace(u'_', u' ');
}

} // namespace batchscope::ui
