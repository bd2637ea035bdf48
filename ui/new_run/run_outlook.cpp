#include "ui/new_run/run_outlook.h"

#include <QCoreApplication>

#include "core/run/automatic_batch.h"
#include "ui/widgets/format.h"

namespace batchscope::ui {

namespace {

using Choice = run::BatchChoice::Kind;

class Texts {
  Q_DECLARE_TR_FUNCTIONS(RunOutlook)
};

QString beginning(const run::RunSpec& spec) {
  switch (spec.batch.kind) {
  case Choice::number:
    return Texts::tr("Starts at once with a batch of %1.").arg(format_count(spec.batch.number));
  case Choice::automatic:
    return Texts::tr("First a search for the smallest batch that is about as fast as any, then the run with it, or "
                     "with a smaller one where an epoch would have fewer than %1 steps.")
        .arg(run::least_steps_in_epoch);
  case Choice::largest:
    return Texts::tr("First a search for the largest batch that fits into the memory budget, then the run with it.");
  case Choice::recommended:
    return Texts::tr("First a search for the smallest batch that is about as fast as any, then the run with it.");
  case Choice::safe:
    break;
  }
  return Texts::tr("First a search for the largest batch that leaves %1 of the memory budget free, then the run "
                   "with it.")
      .arg(format_percent(spec.margin, 0));
}

QString step(const run::RunSpec& spec) {
  const bool number = spec.batch.kind == Choice::number;
  if (spec.effective_batch)
    return Texts::tr("Each optimizer step sums up to %1 examples.").arg(format_count(*spec.effective_batch));
  if (spec.accumulate == 1)
    return {};
  if (number && spec.accumulate <= INT64_MAX / spec.batch.number)
    return Texts::tr("%1 micro batches of %2 make an optimizer step of %3 examples.")
        .arg(format_count(spec.accumulate), format_count(spec.batch.number),
             format_count(spec.accumulate * spec.batch.number));
  return Texts::tr("%1 micro batches make an optimizer step.").arg(format_count(spec.accumulate));
}

QString length(const run::RunSpec& spec) {
  const auto& [epochs, examples, steps] = spec.length;
  if (epochs)
    return *epochs == 1 ? Texts::tr("It ends after one epoch.")
                        : Texts::tr("It ends after %1 epochs.").arg(format_count(*epochs));
  if (examples)
    return Texts::tr("It ends after %1 examples.").arg(format_count(*examples));
  return Texts::tr("It ends after %1 optimizer steps.").arg(format_count(steps.value_or(0)));
}

QString out_of_memory(const run::RunSpec& spec) {
  return spec.on_oom == run::OnOom::shrink
             ? Texts::tr("What does not fit is run again in smaller pieces; no example is lost.")
             : Texts::tr("It ends where memory runs out.");
}

} // namespace

QStringList run_outlook(const run::RunSpec& spec) {
  QStringList sentences{beginning(spec)};
  if (const QString text = step(spec); !text.isEmpty())
    sentences.append(text);
  if (spec.schedule != "constant")
    sentences.append(Texts::tr("The batch then follows its schedule."));
  sentences.append(length(spec));
  sentences.append(out_of_memory(spec));
  return sentences;
}

} // namespace batchscope::ui
