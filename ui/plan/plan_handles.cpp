#include "ui/plan/plan_handles.h"

#include <QCoreApplication>

#include <algorithm>
#include <cmath>

#include "ui/widgets/format.h"

namespace batchscope::ui {

namespace {

struct Texts {
  Q_DECLARE_TR_FUNCTIONS(batchscope::ui::PlanStretch)
};

/// The largest number of micro batches per step so far: needing no more is normal for the run.
std::int64_t parts_known(const OpenRun* run) {
  const series::Series* passes = run != nullptr ? run->history()->find("micro_batches") : nullptr;
  if (passes == nullptr || passes->values.size() == 0 || !run->start())
    return 1;
  const auto most = static_cast<std::int64_t>(passes->values.extremes(0, passes->values.size()).max);
  return std::max<std::int64_t>(1, most / std::max<std::int64_t>(1, run->start()->accumulate));
}

std::int64_t highest_batch(const PlanEditor& editor) {
  const std::optional<run::RunSpec> spec = editor.run() != nullptr ? editor.run()->spec() : editor.draft().spec;
  const schedule::Plan& plan = *editor.plan();
  // An epoch has all examples once, so the plan gives their number.
  const std::int64_t examples = std::llround(static_cast<double>(plan.examples) / plan.epochs);
  return spec ? std::min(examples, spec->max_batch.value_or(examples)) : examples;
}

QString label_of(std::int64_t batch, const std::optional<predict::Split>& split) {
  QString size = format_count(batch);
  if (!split || (split->fits && split->micro_batches == 1))
    return size;
  if (!split->fits)
    return Texts::tr("%1: does not fit, even one example at a time").arg(size);
  return Texts::tr("%1: will run as %2").arg(size, format_parts(split->micro_batches, split->micro_batch));
}

} // namespace

std::vector<PlanStretch> plan_stretches(const PlanEditor& editor) {
  std::vector<PlanStretch> stretches;
  const auto& plan = editor.plan();
  const bool over = editor.run() != nullptr && !editor.run()->running();
  if (over || !plan || plan->epochs <= 0)
    return stretches;
  const std::int64_t known = parts_known(editor.run());
  const std::int64_t highest = highest_batch(editor);
  for (const schedule::PlanSegment& segment : editor.segments()) {
    PlanStretch stretch;
    stretch.name = editor.name_of(segment);
    stretch.from = std::max(segment.first_step, editor.changeable_from());
    stretch.to = std::min(segment.first_step + segment.steps, plan->steps);
    if (stretch.name == PlanEditor::to_the_end)
      stretch.to = plan->steps;
    if (stretch.to < stretch.from)
      continue; // the plan ends before it
    const auto split = editor.split(segment.batch);
    stretch.batch = segment.batch;
    stretch.highest = highest;
    stretch.good = !split || (split->fits && split->micro_batches <= known);
    stretch.label = label_of(segment.batch, split);
    stretches.push_back(stretch);
  }
  return stretches;
}

QString budget_handle_label() {
  return Texts::tr("budget %1, drag to change");
}

QString budget_label(double bytes, const OpenRun* run) {
  const QString text =
      run != nullptr && run->reads_whole_process() ? Texts::tr("budget %1 + libraries") : Texts::tr("budget %1");
  return text.arg(format_bytes(bytes));
}

} // namespace batchscope::ui
