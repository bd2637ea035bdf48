#include "ui/memory/prediction_card.h"

#include <QComboBox>
#include <QVBoxLayout>

#include <algorithm>

#include "core/base/error.h"
#include "ui/memory/card_choice.h"
#include "ui/widgets/format.h"

namespace batchscope::ui {

namespace {

QString fits_text(const run::MemoryPrediction& prediction) {
  if (!prediction.largest)
    return PredictionCard::tr("none");
  if (*prediction.largest == prediction.max_batch)
    return PredictionCard::tr("%1, the maximum").arg(format_count(prediction.max_batch));
  return format_count(*prediction.largest);
}

} // namespace

PredictionCard::PredictionCard(const Theme& theme, QWidget* parent)
    : Card({}, parent), target_(new QComboBox(this)), parts_(new MemoryParts(theme, this)), facts_(new FactList(this)),
      savings_title_(new QLabel(tr("Largest batch with one change"), this)), savings_(new FactList(this)),
      remark_(dimmed_label({}, this)) {
  setObjectName(QStringLiteral("prediction"));
  remark_->setWordWrap(true);
  savings_title_->setWordWrap(true);
  savings_title_->setObjectName(QStringLiteral("savings"));
  remark_->setObjectName(QStringLiteral("prediction-remark"));
  fill_targets();
  body()->addWidget(target_);
  body()->addWidget(parts_);
  body()->addWidget(facts_);
  body()->addWidget(remark_);
  body()->addWidget(savings_title_);
  body()->addWidget(savings_);
  show_none({});
}

void PredictionCard::fill_targets() {
  target_->setObjectName(QStringLiteral("fit-into"));
  target_->setAccessibleName(tr("Memory to fit into"));
  target_->setToolTip(tr("Compute what fits into this run's budget, or on a GPU that this machine does not have"));
  target_->addItem(tr("Fit into the memory budget"));
  add_cards(*target_);
  connect(target_, &QComboBox::activated, this, &PredictionCard::target_changed);
}

QString PredictionCard::target() const {
  return target_->currentData().toString();
}

void PredictionCard::show_fit(const estimate::CardFit& fit, const std::vector<estimate::Saving>& savings,
                              const run::RunSpec& spec) {
  QList<FactList::Fact> more;
  if (fit.steps)
    more << FactList::Fact{
        tr("reserved by the CUDA allocator"),
        format_bytes(static_cast<double>(fit.steps->reserved_bytes)),
        {},
        false,
        tr("At the largest batch, by LibTorch's own CUDA allocator on a pretended card; %1 of it unused")
            .arg(format_percent(fit.steps->fragmentation()))};
  show_peak(fit.prediction, spec, more);
  if (!fit.not_on_card.empty()) {
    const QString before = remark_->isHidden() ? QString() : remark_->text() + QLatin1Char(' ');
    remark_->setText(before + tr("Computed for the CPU instead: %1.").arg(QString::fromStdString(fit.not_on_card)));
    remark_->show();
  }
  QList<FactList::Fact> rows;
  for (const estimate::Saving& saving : savings)
    rows << FactList::Fact{QString::fromStdString(saving.title),
                           saving.max_batch > 0 ? format_count(saving.max_batch) : tr("none"),
                           {},
                           fit.prediction.largest.value_or(0) < fit.batch && saving.max_batch < fit.batch,
                           (saving.by_formula ? tr("%1 at batch size %2, by formula") : tr("%1 at batch size %2"))
                               .arg(format_bytes(saving.total_bytes), format_count(fit.batch))};
  savings_->set_facts(rows);
  savings_title_->setVisible(!rows.isEmpty());
  savings_->setVisible(!rows.isEmpty());
}

void PredictionCard::show_none(const QString& why) {
  set_title(tr("Memory"));
  set_alarming(false);
  if (facts_->isVisible())
    setMinimumHeight(height()); // what stands below stays where it is while a field is being corrected
  parts_->show_text(why.isEmpty() ? tr("Not known yet.") : why);
  for (QWidget* part : std::initializer_list<QWidget*>{facts_, remark_, savings_title_, savings_})
    part->hide();
}

void PredictionCard::show_prediction(const run::MemoryPrediction& prediction, const run::RunSpec& spec) {
  show_peak(prediction, spec, {});
  savings_title_->hide();
  savings_->hide();
}

void PredictionCard::show_peak(const run::MemoryPrediction& prediction, const run::RunSpec& spec,
                               const QList<FactList::Fact>& more) {
  const bool number = spec.batch.kind == run::BatchChoice::Kind::number;
  const std::int64_t batch =
      number ? std::min(spec.batch.number, prediction.max_batch) : prediction.largest.value_or(1);
  const predict::PeakCurve::Point point = prediction.at(batch);
  const predict::Split split = prediction.curve.split(batch, prediction.budget_bytes);
  set_alarming(!split.fits || (split.micro_batches > 1 && spec.on_oom == run::OnOom::fail));
  parts_->show_peak(point, prediction.budget_bytes);
  set_title(tr("Memory at batch size %1").arg(format_count(batch)));
  QList<FactList::Fact> facts{{tr("largest batch that fits"),
                               fits_text(prediction),
                               {},
                               !prediction.largest,
                               target().isEmpty() ? tr("Computed from a dry run; a search verifies it with a trial")
                                                  : tr("Computed from a dry run")}};
  facts << more
        << FactList::Fact{target().isEmpty() ? tr("budget") : tr("usable GPU memory"),
                          format_bytes(static_cast<double>(prediction.budget_bytes)),
                          {},
                          false,
                          target().isEmpty() ? QString()
                                             : tr("Its memory less 0.7 GB for the CUDA context and libraries, and 2 % "
                                                  "for the driver; cuDNN's workspace is not included")}
        << FactList::Fact{tr("model and optimizer"), format_bytes(static_cast<double>(prediction.model_bytes)), {}}
        << FactList::Fact{tr("parameters"), format_count(prediction.parameters), {}};
  facts_->set_facts(facts);
  facts_->show();
  setMinimumHeight(0);
  QString remark;
  if (!split.fits)
    remark = tr("Even one example does not fit. Raise the budget or choose a smaller model.");
  else if (split.micro_batches > 1)
    remark = spec.on_oom == run::OnOom::fail
                 ? tr("The run will end with an out-of-memory error.")
                 : tr("Will run as %1.").arg(format_parts(split.micro_batches, split.micro_batch));
  if (!prediction.complete)
    remark += (remark.isEmpty() ? QString() : QStringLiteral(" ")) + tr("Measuring the workspace of convolutions…");
  remark_->setText(remark);
  remark_->setVisible(!remark.isEmpty());
}

} // namespace batchscope::ui

#include "moc_prediction_card.cpp"
