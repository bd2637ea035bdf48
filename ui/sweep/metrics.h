#pragma once

#include <QList>
#include <QString>

#include <optional>

#include "core/compare/mean_text.h"
#include "core/telemetry/outcome.h"

// Metrics of a run for the cells and the table of a sweep.
namespace batchscope::ui {

/// `loss` is of validation; `training_loss` of the last step, for programs that report nothing else.
enum class Metric { accuracy, loss, training_loss, throughput, peak, time };

const QList<Metric>& metrics();
QString metric_key(Metric metric);    ///< in the state of a page
QString metric_title(Metric metric);  ///< Validation accuracy
QString metric_column(Metric metric); ///< Accuracy %: of a narrow column, with the unit
bool larger_is_better(Metric metric);

/// Value of an ended run; nothing if it has none, or one that is not finite.
std::optional<double> metric_value(Metric metric, const telemetry::RunOutcome& outcome);

QString metric_text(Metric metric, double value);   ///< 97.1 %
QString metric_number(Metric metric, double value); ///< 97.1: the unit is shown elsewhere
/// Mean and half of the 95 % interval of runs.
compare::MeanText metric_mean(Metric metric, const compare::Summary& summary);

} // namespace batchscope::ui
