#include "ui/live/run_summary.h"

#include <algorithm>
#include <cmath>
#include <optional>

#include <QCoreApplication>

#include "core/base/processor_time.h"
#include "core/telemetry/series_info.h"
#include "ui/widgets/format.h"

namespace batchscope::ui {

namespace {

QString tr(const char* text) {
  return QCoreApplication::translate("RunSummary", text);
}

/// The largest or smallest finite value of a series, and its last finite one.
struct Ends {
  double best = 0;
  double last = 0;
};

std::optional<Ends> ends_of(const OpenRun& run, const char* name, bool larger_is_better) {
  const series::Series* series = run.history()->find(name);
  if (series == nullptr || series->values.size() == 0)
    return std::nullopt;
  const series::Extremes extremes = series->values.extremes(0, series->values.size());
  if (extremes.finite == 0)
    return std::nullopt;
  Ends ends{.best = larger_is_better ? extremes.max : extremes.min};
  for (std::size_t i = series->values.size(); i > 0; --i)
    if (std::isfinite(series->values[i - 1])) {
      ends.last = series->values[i - 1];
      break;
    }
  return ends;
}

void add_score(QList<FactList::Fact>& facts, const OpenRun& run, const char* series, bool larger_is_better,
               const QString& name, QString (*text)(double)) {
  const auto ends = ends_of(run, series, larger_is_better);
  if (!ends)
    return;
  const bool same = ends->best == ends->last;
  facts += {.name = name,
            .value = same ? text(ends->last) : tr("%1, best %2").arg(text(ends->last), text(ends->best)),
            .help = same ? QString() : tr("Of the last evaluation, and of the best one")};
}

QString loss_text(double loss) {
  return format_number(loss);
}

QString accuracy_text(double accuracy) {
  return format_percent(accuracy);
}

} // namespace

QList<FactList::Fact> run_summary(const OpenRun& run) {
  QList<FactList::Fact> facts;
  facts += {.name = tr("steps"), .value = format_count(run.steps())};
  facts += {.name = tr("time"), .value = format_duration(run.seconds())};
  if (const auto peak = ends_of(run, "peak_bytes", true); peak && peak->best > 0)
    facts += {.name = tr("peak memory"),
              .value = format_bytes(peak->best),
              .help = tr("The highest memory in use during any step")};
  add_score(facts, run, "validation_accuracy", true, tr("validation accuracy"), accuracy_text);
  add_score(facts, run, "validation_loss", false, tr("validation loss"), loss_text);
  if (const auto loss = ends_of(run, "loss", false); loss && !ends_of(run, "validation_loss", false))
    facts += {.name = tr("lowest loss"), .value = loss_text(loss->best)};
  for (const std::string& name : run.history()->others())
    if (!telemetry::is_known_series(name) && !telemetry::stream_series_from(name))
      if (const auto ends = ends_of(run, name.c_str(), true))
        facts += {.name = QString::fromStdString(name),
                  .value = format_number(ends->last),
                  .help = tr("The last value that the program has reported")};
  if (run.examples_per_second() > 0)
    facts += {.name = tr("examples/s"),
              .value = format_count(std::llround(run.examples_per_second())),
              .help = tr("Examples per second of training; pauses and evaluations are excluded")};
  if (const double lost = run.disturbed().value_or(0); lost >= disturbed_from)
    facts += {.name = tr("taken by other work"),
              .value = format_percent(lost),
              .alarming = true,
              .help = tr("Share of the time taken by other programs on this machine, which slowed this run down")};
  const auto& events = run.events();
  const auto errors = std::count_if(events.begin(), events.end(), [](const telemetry::Event& event) {
    return std::holds_alternative<telemetry::OutOfMemory>(event.body);
  });
  facts += {.name = tr("out-of-memory errors"), .value = format_count(errors)};
  return facts;
}

} // namespace batchscope::ui
