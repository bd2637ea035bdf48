#include "ui/sweep/sweep_view.h"

#include <QCoreApplication>
#include <QStringList>

#include <algorithm>
#include <map>

#include "core/run/run_plan.h"
#include "core/schedule/batch_schedule.h"
#include "ui/widgets/format.h"

namespace batchscope::ui {

namespace {

using telemetry::RunStatus;

QString view_tr(const char* text) {
  return QCoreApplication::translate("Sweep", text);
}

RunStage stage_of(const SweepEntry& entry, const telemetry::RunOutcome& outcome) {
  switch (outcome.status) {
  case RunStatus::queued:
    return entry.place ? RunStage::waiting : RunStage::starting;
  case RunStatus::running:
    return RunStage::running;
  case RunStatus::finished:
    return RunStage::finished;
  case RunStatus::failed:
    return RunStage::failed;
  case RunStatus::stopped:
    return outcome.reason.empty() ? RunStage::missing : RunStage::ended;
  case RunStatus::interrupted:
    break;
  }
  return RunStage::missing;
}

const store::RunRow* row_of(const std::vector<store::RunRow>& rows, std::int64_t id) {
  const auto row = std::lower_bound(rows.begin(), rows.end(), id,
                                    [](const store::RunRow& each, std::int64_t wanted) { return each.id < wanted; });
  return row != rows.end() && row->id == id ? &*row : nullptr;
}

/// The mean time of finished runs with the same batch size, which decides it most.
class Times {
public:
  explicit Times(const SweepContent& content) : content_(content) {
    const auto batch = std::find(content.fields.begin(), content.fields.end(), "batch");
    if (batch != content.fields.end())
      field_ = static_cast<std::size_t>(batch - content.fields.begin());
  }

  void add(std::size_t entry, double seconds) {
    for (const std::string& key : {key_of(entry), std::string()}) {
      auto& [sum, count] = sums_[key];
      sum += seconds;
      ++count;
    }
  }
  /// Mean time of the same batch size, else the time as predicted, else the mean of all.
  std::optional<double> of(std::size_t entry, const std::optional<double>& predicted) const {
    if (const auto same = mean(key_of(entry)))
      return same;
    return predicted ? predicted : mean({});
  }

private:
  std::string key_of(std::size_t entry) const {
    return field_ ? "=" + content_.entries[entry].values[*field_] : std::string("=");
  }
  std::optional<double> mean(const std::string& key) const {
    const auto found = sums_.find(key);
    return found == sums_.end() ? std::nullopt
                                : std::optional(found->second.first / static_cast<double>(found->second.second));
  }

  const SweepContent& content_;
  std::optional<std::size_t> field_;
  std::map<std::string, std::pair<double, std::int64_t>> sums_;
};

} // namespace

bool is_over(RunStage stage) {
  return stage == RunStage::finished || stage == RunStage::ended || stage == RunStage::failed;
}

std::size_t SweepView::count(RunStage stage) const {
  return static_cast<std::size_t>(
      std::count_if(runs.begin(), runs.end(), [stage](const ShownRun& run) { return run.stage == stage; }));
}

std::size_t SweepView::over() const {
  return static_cast<std::size_t>(
      std::count_if(runs.begin(), runs.end(), [](const ShownRun& run) { return is_over(run.stage); }));
}

double SweepView::seconds() const {
  double sum = 0;
  for (const ShownRun& run : runs)
    sum += run.outcome.seconds;
  return sum;
}

std::optional<double> SweepView::seconds_left() const {
  double sum = 0;
  for (const ShownRun& run : runs) {
    if (is_over(run.stage) || run.stage == RunStage::missing)
      continue;
    if (!run.seconds)
      return std::nullopt;
    sum += std::max(*run.seconds - run.outcome.seconds, 0.0);
  }
  return sum / static_cast<double>(std::max<std::size_t>(count(RunStage::running), 1));
}

std::optional<std::size_t> SweepView::training() const {
  const auto found =
      std::find_if(runs.begin(), runs.end(), [](const ShownRun& run) { return run.stage == RunStage::running; });
  return found == runs.end() ? std::nullopt : std::optional(static_cast<std::size_t>(found - runs.begin()));
}

SweepView view_of(const std::shared_ptr<const SweepContent>& content,
                  const std::shared_ptr<const RunPredictions>& predictions, const std::vector<store::RunRow>& rows) {
  SweepView view{.content = content, .runs = {}};
  if (!content)
    return view;
  Times times(*content);
  for (std::size_t i = 0; i < content->entries.size(); ++i) {
    const SweepEntry& entry = content->entries[i];
    ShownRun run{.stage = content->sweep ? RunStage::missing : RunStage::planned,
                 .run = {},
                 .place = {},
                 .outcome = {},
                 .prediction = {},
                 .seconds = {},
                 .progress = {}};
    if (const store::RunRow* row = entry.run ? row_of(rows, *entry.run) : nullptr) {
      run.stage = stage_of(entry, row->outcome);
      run.run = entry.run;
      run.outcome = row->outcome;
      if (run.stage == RunStage::waiting)
        run.place = entry.place;
      if (run.stage == RunStage::running)
        if (const auto done = schedule::fraction_done(run::countable_length(entry.spec, run.outcome.batch.value_or(0)),
                                                      run.outcome.steps, run.outcome.examples_seen, run.outcome.epoch))
          run.progress = std::min(*done, 1.0);
      if (run.stage == RunStage::finished)
        times.add(i, row->outcome.seconds);
    }
    if (predictions && i < predictions->size())
      run.prediction = (*predictions)[i];
    view.runs.push_back(std::move(run));
  }
  for (std::size_t i = 0; i < view.runs.size(); ++i)
    if (!is_over(view.runs[i].stage))
      view.runs[i].seconds = times.of(i, view.runs[i].prediction.seconds);
  return view;
}

QString prediction_text(const SweepView& view) {
  std::size_t runs = 0, too_large = 0, refused = 0;
  std::uint64_t peak = 0;
  std::optional<double> seconds = 0;
  for (const ShownRun& run : view.runs) {
    if (run.stage != RunStage::planned && run.stage != RunStage::missing && run.stage != RunStage::waiting)
      continue;
    ++runs;
    peak = std::max(peak, run.prediction.peak_bytes.value_or(0));
    too_large += run.prediction.fits ? 0 : 1;
    refused += run.prediction.problem.empty() ? 0 : 1;
    seconds = seconds && run.seconds ? std::optional(*seconds + *run.seconds) : std::nullopt;
  }
  QStringList parts{runs == 1 ? view_tr("1 run") : view_tr("%1 runs").arg(format_count(static_cast<qint64>(runs)))};
  if (runs > 0)
    parts << (seconds ? view_tr("about %1").arg(format_duration(*seconds)) : view_tr("time not known yet"));
  if (peak > 0)
    parts << view_tr("highest peak %1").arg(format_bytes(static_cast<double>(peak)));
  QString text = parts.join(QStringLiteral(", "));
  if (too_large > 0)
    text += view_tr("; %1 will not fit").arg(format_count(static_cast<qint64>(too_large)));
  if (refused > 0)
    text += view_tr("; %1 cannot run").arg(format_count(static_cast<qint64>(refused)));
  return text;
}

namespace {

/// Out-of-memory errors need not be what has ended a run.
QString with_errors(const QString& end, const ShownRun& run) {
  return run.outcome.oom_events > 0 ? view_tr("%1, %2 OOM").arg(end).arg(run.outcome.oom_events) : end;
}

} // namespace

QString stage_text(const ShownRun& run) {
  switch (run.stage) {
  case RunStage::planned:
  case RunStage::missing:
    if (!run.prediction.problem.empty())
      return view_tr("cannot run");
    if (!run.prediction.fits)
      return view_tr("will not fit");
    return run.stage == RunStage::missing ? view_tr("not run")
           : run.prediction.peak_bytes    ? view_tr("fits")
                                          : QString();
  case RunStage::waiting:
    return run.prediction.fits ? view_tr("waiting") : view_tr("waiting, will not fit");
  case RunStage::starting:
    return view_tr("starting");
  case RunStage::running:
    return run.paused ? view_tr("paused") : view_tr("running");
  case RunStage::finished:
    return with_errors(view_tr("finished"), run);
  case RunStage::ended:
    return run.outcome.steps == 0 ? view_tr("skipped") : view_tr("ended early");
  case RunStage::failed:
    break;
  }
  return with_errors(view_tr("failed"), run);
}

QString stage_reason(const ShownRun& run) {
  if (is_over(run.stage))
    return QString::fromStdString(run.outcome.reason);
  if (!run.prediction.problem.empty())
    return QString::fromStdString(run.prediction.problem);
  return run.prediction.fits ? QString() : view_tr("Its batch size is predicted to need more than the memory budget.");
}

} // namespace batchscope::ui
