#include "ui/memory/fit_card.h"

#include <QComboBox>
#include <QHBoxLayout>
#include <QPushButton>
#include <QVBoxLayout>

#include <algorithm>

#include "core/estimate/cards.h"
#include "ui/memory/card_choice.h"
#include "ui/memory/fit_answer.h"
#include "ui/memory/memory_parts.h"
#include "ui/widgets/format.h"

namespace batchscope::ui {

namespace {

constexpr const char* first_choice = "rtx-4090";

QString size_text(std::optional<std::int64_t> size) {
  return size ? format_count(*size) : FitCard::tr("none");
}

QString verdict_text(const FitAnswer& answer, const QString& card) {
  if (!answer.largest)
    return FitCard::tr("Not even one example fits on %1").arg(card);
  return (answer.fits() ? FitCard::tr("Batch size %1 fits on %2") : FitCard::tr("Batch size %1 does not fit on %2"))
      .arg(format_count(answer.batch), card);
}

} // namespace

FitCard::FitCard(const Theme& theme, bool on_demand, QWidget* parent)
    : Card(tr("Will it fit?"), parent), cards_(new QComboBox(this)), start_(plain_button({}, this)),
      text_(dimmed_label({}, this)), parts_(new MemoryParts(theme, this)), facts_(new FactList(this)),
      savings_title_(new QLabel(tr("Largest batch with one change"), this)), savings_(new FactList(this)) {
  setObjectName(QStringLiteral("fit"));
  add_cards(*cards_, estimate::oldest_pretended);
  cards_->setObjectName(QStringLiteral("fit-card"));
  cards_->setAccessibleName(tr("GPU to fit into"));
  cards_->setToolTip(tr("Any GPU, also one that this machine does not have"));
  choose(QString::fromLatin1(first_choice));
  connect(cards_, &QComboBox::activated, this, &FitCard::card_changed);
  start_->setObjectName(QStringLiteral("fit-start"));
  start_->setVisible(on_demand);
  text_->setObjectName(QStringLiteral("fit-text"));
  facts_->setObjectName(QStringLiteral("fit-facts"));
  savings_->setObjectName(QStringLiteral("fit-savings"));
  for (QLabel* label : {text_, savings_title_})
    label->setWordWrap(true);
  cards_->setSizePolicy(QSizePolicy::Ignored, QSizePolicy::Fixed); // its longest text would widen the column
  auto* row = new QHBoxLayout;
  row->addWidget(cards_, 1);
  row->addWidget(start_);
  body()->addLayout(row);
  for (QWidget* part : std::initializer_list<QWidget*>{parts_, facts_, savings_title_, savings_, text_})
    body()->addWidget(part);
  connect(start_, &QPushButton::clicked, this, [this] { works_ ? Q_EMIT unwanted() : Q_EMIT wanted(); });
  show_none({});
}

QString FitCard::chosen() const {
  return cards_->currentData().toString();
}

void FitCard::choose(const QString& card) {
  if (const int index = cards_->findData(card); index >= 0 && cards_->isEnabled())
    cards_->setCurrentIndex(index);
}

void FitCard::show_parts(bool answer) {
  for (QWidget* part : std::initializer_list<QWidget*>{parts_, facts_, savings_title_, savings_})
    part->setVisible(answer);
  if (!answer)
    set_title(tr("Will it fit?"));
}

void FitCard::show_text(const QString& text, bool works) {
  works_ = works;
  start_->setText(works ? tr("Stop") : tr("Compute"));
  start_->setToolTip(works ? tr("End the program and the search")
                           : tr("Run the program for some steps of a few sizes on a pretended GPU"));
  cards_->setEnabled(!works || start_->isHidden());
  text_->setText(text);
  text_->setVisible(!text.isEmpty());
}

void FitCard::show_none(const QString& text) {
  set_alarming(false);
  show_text(text, false);
  show_parts(false);
}

void FitCard::show_working(const QString& activity) {
  set_alarming(false);
  show_text(activity, true);
  show_parts(false);
}

void FitCard::show_answer(const FitAnswer& answer, const estimate::Target& card, const QString& working) {
  set_alarming(!answer.fits());
  show_text(working.isEmpty() ? answer.method : working, !working.isEmpty());
  show_parts(true);
  set_title(verdict_text(answer, QString::fromStdString(card.name)));
  if (answer.peak.bytes > 0)
    parts_->show_peak(answer.peak, card.usable_bytes());
  parts_->setVisible(answer.peak.bytes > 0);
  QList<FactList::Fact> facts{{tr("largest batch size"), size_text(answer.largest), {}, !answer.largest}};
  if (answer.safe)
    facts << FactList::Fact{tr("with a margin"), size_text(answer.safe), {}};
  if (answer.reserved_bytes && answer.largest)
    facts << FactList::Fact{tr("reserved at the largest"),
                            format_bytes(static_cast<double>(*answer.reserved_bytes)),
                            {},
                            false,
                            tr("As counted by torch's allocator: tensors and the unused memory between them")};
  facts << FactList::Fact{tr("usable GPU memory"),
                          QString::fromStdString(estimate::usable_text(card)),
                          {},
                          false,
                          tr("Not included: %1").arg(QString::fromStdString(estimate::not_included_text(card)))};
  facts_->set_facts(facts);
  QList<FactList::Fact> savings;
  for (const FitAnswer::Saving& saving : answer.savings)
    savings << FactList::Fact{saving.change, saving.largest, {}, false, saving.help};
  savings_->set_facts(savings);
  savings_title_->setVisible(!savings.isEmpty());
  savings_->setVisible(!savings.isEmpty());
}

void FitCard::show_failure(const QString& error) {
  show_none(error);
  set_alarming(true);
}

} // namespace batchscope::ui

#include "moc_fit_card.cpp"
