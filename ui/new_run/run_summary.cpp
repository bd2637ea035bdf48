#include "ui/new_run/run_summary.h"

#include <QCoreApplication>
#include <QLocale>

#include "core/run/automatic_batch.h"
#include "ui/widgets/format.h"

namespace batchscope::ui {

namespace {

using Choice = run::BatchChoice::Kind;

class Texts {
  Q_DECLARE_TR_FUNCTIONS(RunSummary)
};

QString beginning(const run::RunSpec& spec) {
  switch (spec.batch.kind) {
  case Choice::number:
    return Texts::tr("Starts training immediately with batch size %1.").arg(format_count(spec.batch.number));
  case Choice::share:
    return Texts::tr("Searches for the largest batch size that fits, then trains with %1 % of it.")
        .arg(QLocale::c().toString(spec.batch.percent));
  case Choice::automatic:
    return Texts::tr(
               "Searches for the smallest batch size within 5 % of the best throughput, then trains with it, or with "
               "a smaller one if an epoch would have fewer than %1 steps.")
        .arg(run::min_steps_in_epoch);
  case Choice::largest:
    return Texts::tr("Searches for the largest batch size that fits in the memory budget, then trains with it.");
  case Choice::recommended:
    return Texts::tr("Searches for the smallest batch size within 5 % of the best throughput, then trains with it.");
  case Choice::safe:
    break;
  }
  return Texts::tr("Searches for the largest batch size that leaves %1 of the memory budget free, then trains with it.")
      .arg(format_percent(spec.margin, 0));
}

QString step(const run::RunSpec& spec) {
  const bool number = spec.batch.kind == Choice::number;
  if (spec.effective_batch)
    return Texts::tr("Each optimizer step accumulates gradients over up to %1 examples.")
        .arg(format_count(*spec.effective_batch));
  if (spec.accumulate == 1)
    return {};
  if (number && spec.accumulate <= INT64_MAX / spec.batch.number)
    return Texts::tr("Each optimizer step accumulates gradients over %1 batches of %2, %3 examples in total.")
        .arg(format_count(spec.accumulate), format_count(spec.batch.number),
             format_count(spec.accumulate * spec.batch.number));
  return Texts::tr("Each optimizer step accumulates gradients over %1 batches.").arg(format_count(spec.accumulate));
}

QString length(const run::RunSpec& spec) {
  const auto& [epochs, examples, steps] = spec.length;
  if (epochs)
    return *epochs == 1 ? Texts::tr("Ends after one epoch.")
                        : Texts::tr("Ends after %1 epochs.").arg(format_count(*epochs));
  if (examples)
    return Texts::tr("Ends after %1 examples.").arg(format_count(*examples));
  return Texts::tr("Ends after %1 optimizer steps.").arg(format_count(steps.value_or(0)));
}

QString out_of_memory(const run::RunSpec& spec) {
  return spec.on_oom != run::OnOom::fail
             ? Texts::tr("A batch that does not fit is retried as smaller micro batches; no example is lost.")
             : Texts::tr("Ends at the first out-of-memory error.");
}

} // namespace

QStringList run_summary(const run::RunSpec& spec) {
  QStringList sentences{beginning(spec)};
  if (const QString text = step(spec); !text.isEmpty())
    sentences.append(text);
  if (spec.schedule != "constant")
    sentences.append(Texts::tr("The batch size then follows the schedule."));
  sentences.append(length(spec));
  sentences.append(out_of_memory(spec));
  return sentences;
}

} // namespace batchscope::ui
