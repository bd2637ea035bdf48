#include "ui/live/reason_card.h"

#include <QLabel>
#include <QVBoxLayout>

#include "ui/widgets/widgets.h"
#include "ui/workbench/output_box.h"

namespace batchscope::ui {

namespace {

constexpr int most_lines = 14;

QString title_of(const OpenRun& run) {
  if (run.status() == QLatin1String("failed"))
    return ReasonCard::tr("The run failed");
  return run.status() == QLatin1String("unreadable") ? ReasonCard::tr("The run cannot be read")
                                                     : ReasonCard::tr("Why the run ended");
}

} // namespace

ReasonCard::ReasonCard(QWidget* parent)
    : QWidget(parent), card_(new Card({}, this)), text_(new QLabel(card_)), output_(new OutputBox(most_lines, card_)) {
  card_->set_alarming(true);
  text_->setObjectName("reason");
  text_->setTextFormat(Qt::PlainText);
  text_->setWordWrap(true);
  text_->setTextInteractionFlags(Qt::TextSelectableByMouse);
  card_->body()->addWidget(text_);
  card_->body()->addWidget(output_);
  auto* layout = new QVBoxLayout(this);
  layout->setContentsMargins(0, 0, 0, 0);
  layout->addWidget(card_);
  hide();
}

void ReasonCard::show_run(const OpenRun* run) {
  const bool known = run != nullptr && !run->reason().isEmpty() && !run->running();
  setVisible(known);
  if (!known)
    return;
  card_->set_title(title_of(*run));
  text_->setText(run->reason());
  output_->show_output(run->stored_output());
}

} // namespace batchscope::ui

#include "moc_reason_card.cpp"
