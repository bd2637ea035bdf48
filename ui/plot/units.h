#pragma once

#include <QString>

#include "core/telemetry/outcome_fields.h"

namespace batchscope::ui {

// Factors from stored values to plotted ones.
inline constexpr double to_megabytes = 1e-6; ///< from bytes
inline constexpr double to_percent = 100;    ///< from a fraction, 0..1

/// How values of a kind are plotted.
struct PlotUnit {
  QString name;      ///< "MB"; empty: none
  double factor = 1; ///< from a stored value
};
PlotUnit plot_unit(telemetry::ValueKind kind);

/// The name of a series as a title: "validation accuracy".
QString series_title(QString series);

} // namespace batchscope::ui
