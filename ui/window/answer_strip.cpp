#include "ui/window/answer_strip.h"

#include <QAccessible>
#include <QHBoxLayout>
#include <QToolButton>

#include "ui/texts/answer_texts.h"
#include "ui/theme/theme.h"
#include "ui/widgets/answer_banner.h"
#include "ui/widgets/format.h"
#include "ui/widgets/widgets.h"
#include "ui/workbench/workbench.h"

namespace batchscope::ui {

AnswerStrip::AnswerStrip(Workbench& workbench, QWidget* parent)
    : QFrame(parent), workbench_(workbench), answer_(new AnswerBanner(this)), train_(plain_button({}, this)) {
  setProperty("kind", QStringLiteral("strip"));
  setObjectName(QStringLiteral("demo_answer"));
  train_->setToolTip(tr("Open the New run form with this batch size"));
  auto* sweep = plain_button(tr("Show its sweep"), this);
  sweep->setObjectName(QStringLiteral("show_sweep"));
  sweep->setToolTip(tr("Show the cells and runs of the demo's sweep"));
  auto* close = new QToolButton(this);
  close->setIcon(workbench.theme().icon(QStringLiteral("close")));
  close->setObjectName(QStringLiteral("dismiss"));
  close->setToolTip(tr("Dismiss"));
  close->setAccessibleName(tr("Dismiss the result of the demo"));
  auto* layout = new QHBoxLayout(this);
  const int side = Theme::lines(0.75), above = Theme::lines(0.3);
  layout->setContentsMargins(side, above, side, above);
  layout->setSpacing(Theme::lines(0.75));
  layout->addWidget(answer_, 1);
  layout->addWidget(sweep);
  layout->addWidget(train_);
  layout->addWidget(close);
  connect(close, &QToolButton::clicked, this, &QWidget::hide);
  connect(sweep, &QPushButton::clicked, this, [this] { Q_EMIT workbench_.page_wanted(QStringLiteral("sweep")); });
  connect(train_, &QPushButton::clicked, this, [this] { workbench_.propose_run(spec_); });
  connect(&workbench.theme(), &Theme::changed, close,
          [this, close] { close->setIcon(workbench_.theme().icon(QStringLiteral("close"))); });
  connect(&workbench.job_queue(), &JobQueue::job_changed, this, [this](const Job* job) { take(*job); });
  hide();
}

void AnswerStrip::take(const Job& job) {
  if (job.kind() != Job::Kind::demo)
    return;
  if (job.state() == Job::State::done && job.answer() && job.answer()->batch)
    show_answer(job.spec(), *job.answer());
  else
    hide();
}

void AnswerStrip::show_answer(const run::RunSpec& spec, const compare::Answer& answer) {
  spec_ = spec;
  spec_.batch = {run::BatchChoice::Kind::number, *answer.batch};
  answer_->show_answer(banner_answer(answer));
  train_->setText(tr("New run with %1").arg(format_count(*answer.batch)));
  setAccessibleName(answer_->text());
  show();
  QAccessibleEvent alert(this, QAccessible::Alert);
  QAccessible::updateAccessibility(&alert);
}

} // namespace batchscope::ui

#include "moc_answer_strip.cpp"
