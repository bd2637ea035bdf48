#include "ui/sweep/cell_text.h"

#include <QCoreApplication>
#include <QStringList>

#include <algorithm>

#include "ui/widgets/format.h"

namespace batchscope::ui {

namespace {

constexpr std::size_t most_runs = 10; ///< lines of a tooltip

QString cell_tr(const char* text) {
  return QCoreApplication::translate("Sweep", text);
}

std::size_t count_in(const SweepView& view, const Cell& cell, RunStage stage) {
  return static_cast<std::size_t>(std::count_if(cell.runs.begin(), cell.runs.end(),
                                                [&](std::size_t run) { return view.runs[run].stage == stage; }));
}

/// A run whose prediction stands for the others of the cell, which have the same.
const ShownRun& open_run(const SweepView& view, const Cell& cell) {
  for (const std::size_t run : cell.runs)
    if (!is_over(view.runs[run].stage))
      return view.runs[run];
  return view.runs[cell.runs.front()];
}

/// Text of a cell none of whose runs has begun.
CellText text_before(const SweepView& view, const Cell& cell) {
  const ShownRun& run = open_run(view, cell);
  CellText text;
  const QString peak =
      run.prediction.peak_bytes ? format_bytes(static_cast<double>(*run.prediction.peak_bytes)) : QString();
  const QString time = run.seconds ? cell_tr("about %1").arg(format_duration(*run.seconds)) : QString();
  if (run.stage == RunStage::waiting || run.stage == RunStage::starting) {
    text.head = cell.runs.size() == 1 ? stage_text(run) : cell_tr("%1 runs waiting").arg(cell.runs.size());
    text.below = peak.isEmpty() || time.isEmpty() ? peak + time
                                                  : QStringLiteral("%1 · %2").arg(peak, format_duration(*run.seconds));
  } else {
    text.head = run.stage == RunStage::missing ? cell_tr("not run") : peak.isEmpty() ? QStringLiteral("–") : peak;
    text.below = cell.runs.size() > 1 && !time.isEmpty() ? cell_tr("%1 each").arg(time) : time;
  }
  if (run.in_doubt())
    text.alarm = run.prediction.problem.empty() ? cell_tr("will not fit") : cell_tr("cannot run");
  return text;
}

QString run_line(const SweepView& view, std::size_t index, Metric metric) {
  const ShownRun& run = view.runs[index];
  QStringList parts{stage_text(run)};
  if (run.stage == RunStage::finished)
    if (const auto value = metric_value(metric, run.outcome))
      parts << metric_text(metric, *value);
  if (is_over(run.stage) && run.outcome.peak_bytes > 0)
    parts << format_bytes(static_cast<double>(run.outcome.peak_bytes)) << format_duration(run.outcome.seconds);
  else if (run.prediction.peak_bytes)
    parts << cell_tr("predicted peak %1").arg(format_bytes(static_cast<double>(*run.prediction.peak_bytes)));
  if (!is_over(run.stage) && run.seconds)
    parts << cell_tr("about %1").arg(format_duration(*run.seconds));
  if (const QString reason = stage_reason(run); !reason.isEmpty())
    parts << reason;
  parts.removeAll(QString());
  const QString name = run.run ? cell_tr("seed %1, run %2").arg(view.content->entries[index].spec.seed).arg(*run.run)
                               : cell_tr("seed %1").arg(view.content->entries[index].spec.seed);
  return QStringLiteral("%1: %2").arg(name, parts.join(QStringLiteral(", ")));
}

} // namespace

bool trains(const SweepView& view, const Cell& cell) {
  return count_in(view, cell, RunStage::running) > 0;
}

bool untouched(const SweepView& view, const Cell& cell) {
  return std::none_of(cell.runs.begin(), cell.runs.end(), [&](std::size_t run) {
    return is_over(view.runs[run].stage) || view.runs[run].stage == RunStage::running;
  });
}

CellText cell_text(const SweepView& view, const Cell& cell, Metric metric) {
  if (untouched(view, cell))
    return text_before(view, cell);
  CellText text;
  std::int64_t ooms = 0;
  for (const std::size_t run : cell.runs)
    ooms += view.runs[run].outcome.oom_events;
  const std::size_t over = static_cast<std::size_t>(std::count_if(
      cell.runs.begin(), cell.runs.end(), [&](std::size_t run) { return is_over(view.runs[run].stage); }));
  const std::size_t failed = count_in(view, cell, RunStage::failed);
  if (cell.summary.n > 0) {
    const compare::MeanText mean = metric_mean(metric, cell.summary);
    text.head = QString::fromStdString(mean.mean);
    if (over < cell.runs.size())
      text.below = cell_tr("%1 of %2 runs").arg(over).arg(cell.runs.size());
    else if (!mean.half.empty())
      text.below = QStringLiteral("± %1").arg(QString::fromStdString(mean.half));
  } else if (failed > 0) {
    text.failed = failed == cell.runs.size();
    text.head = cell_tr("failed");
    if (failed < cell.runs.size())
      text.below = cell_tr("%1 of %2 runs").arg(over).arg(cell.runs.size());
    else if (ooms > 0)
      text.below = cell_tr("%1 OOM").arg(ooms);
  } else if (count_in(view, cell, RunStage::ended) > 0) {
    text.head = stage_text(open_run(view, cell));
  } else if (count_in(view, cell, RunStage::finished) > 0) {
    text.head = QStringLiteral("–");
    text.below = cell_tr("no value");
  } else {
    const bool paused =
        std::any_of(cell.runs.begin(), cell.runs.end(), [&](std::size_t run) { return view.runs[run].paused; });
    text.head = paused ? cell_tr("paused") : cell_tr("running");
    text.below = cell.runs.size() > 1 ? cell_tr("%1 of %2 runs").arg(over).arg(cell.runs.size()) : QString();
  }
  if (cell.summary.n > 0 && failed > 0)
    text.alarm = ooms > 0 ? cell_tr("%1 failed, %2 OOM").arg(failed).arg(ooms) : cell_tr("%1 failed").arg(failed);
  else if (ooms > 0 && !text.failed)
    text.alarm = cell_tr("%1 OOM, survived").arg(ooms);
  return text;
}

QString cell_tip(const SweepView& view, const Cell& cell, Metric metric) {
  const SweepContent& content = *view.content;
  QStringList settings;
  for (std::size_t i = 0; i < content.fields.size(); ++i)
    settings << QStringLiteral("%1 %2").arg(
        field_name(content.fields[i]), value_name(content.fields[i], content.entries[cell.runs.front()].values[i]));
  QStringList lines;
  if (!settings.isEmpty())
    lines << settings.join(QStringLiteral(", "));
  if (cell.summary.n > 1)
    lines << cell_tr("%1: %2 over %3 runs")
                 .arg(metric_title(metric), QString::fromStdString(metric_mean(metric, cell.summary).whole()))
                 .arg(cell.summary.n);
  for (std::size_t i = 0; i < std::min(cell.runs.size(), most_runs); ++i)
    lines << run_line(view, cell.runs[i], metric);
  if (cell.runs.size() > most_runs)
    lines << cell_tr("and %1 more runs").arg(cell.runs.size() - most_runs);
  return lines.join(u'\n');
}

} // namespace batchscope::ui
