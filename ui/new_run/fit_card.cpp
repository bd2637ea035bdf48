#include "ui/new_run/fit_card.h"

#include <QComboBox>
#include <QHBoxLayout>
#include <QPushButton>
#include <QVBoxLayout>

#include <algorithm>

#include "core/estimate/cards.h"
#include "core/search/finder.h"
#include "ui/memory/card_choice.h"
#include "ui/memory/memory_parts.h"
#include "ui/widgets/format.h"

namespace batchscope::ui {

namespace {

constexpr const char* first_choice = "rtx-4090";

QString size_text(std::optional<std::int64_t> size) {
  return size ? format_count(*size) : FitCard::tr("none");
}

} // namespace

FitCard::FitCard(const Theme& theme, QWidget* parent)
    : Card(tr("Will it fit?"), parent), cards_(new QComboBox(this)), start_(plain_button({}, this)),
      text_(dimmed_label({}, this)), parts_(new MemoryParts(theme, this)), facts_(new FactList(this)) {
  setObjectName(QStringLiteral("fit"));
  add_cards(*cards_, estimate::oldest_pretended);
  cards_->setObjectName(QStringLiteral("fit-card"));
  cards_->setAccessibleName(tr("GPU to fit into"));
  cards_->setToolTip(tr("A GPU that need not be here"));
  cards_->setCurrentIndex(std::max(cards_->findData(QString::fromLatin1(first_choice)), 0));
  start_->setObjectName(QStringLiteral("fit-start"));
  text_->setObjectName(QStringLiteral("fit-text"));
  text_->setWordWrap(true);
  cards_->setSizePolicy(QSizePolicy::Ignored, QSizePolicy::Fixed); // its longest text would widen the column
  auto* row = new QHBoxLayout;
  row->addWidget(cards_, 1);
  row->addWidget(start_);
  body()->addLayout(row);
  body()->addWidget(text_);
  body()->addWidget(parts_);
  body()->addWidget(facts_);
  connect(start_, &QPushButton::clicked, this, [this] { works_ ? Q_EMIT unwanted() : Q_EMIT wanted(); });
  show_none();
}

QString FitCard::chosen() const {
  return cards_->currentData().toString();
}

void FitCard::show_text(const QString& text, bool works) {
  works_ = works;
  set_alarming(false);
  start_->setText(works ? tr("Stop") : tr("Compute"));
  start_->setToolTip(works ? tr("End the program and the search")
                           : tr("Run the program for some steps of a few sizes on a pretended card"));
  cards_->setEnabled(!works);
  text_->setText(text);
  text_->setVisible(!text.isEmpty());
  parts_->hide();
  facts_->hide();
}

void FitCard::show_none() {
  show_text(tr("Runs the program on a pretended GPU: torch's own allocator, and nothing is computed or stored."),
            false);
}

void FitCard::show_working(const QString& activity) {
  show_text(activity.isEmpty() ? tr("Starting the program…") : activity, true);
}

void FitCard::show_result(const search::SearchResult& result, const QString& card) {
  const estimate::Target target = estimate::parse_target(card.toStdString(), "--for");
  show_text(QString::fromStdString(result.reason), false);
  const bool known = result.largest && result.memory;
  if (known)
    parts_->show_peak(result.memory->at(*result.largest), target.usable_bytes());
  parts_->setVisible(known);
  facts_->set_facts({{tr("largest batch size on %1").arg(card),
                      size_text(result.largest),
                      {},
                      !result.largest,
                      tr("Computed on a pretended card: torch's own allocator, kernels not run")},
                     {tr("with a margin"), size_text(result.safe), {}},
                     {tr("usable GPU memory"),
                      format_bytes(static_cast<double>(target.usable_bytes())),
                      {},
                      false,
                      tr("Not included: %1").arg(QString::fromStdString(estimate::not_included_text(target)))}});
  facts_->show();
}

void FitCard::show_failure(const QString& error) {
  show_text(error, false);
  set_alarming(true);
}

} // namespace batchscope::ui

#include "moc_fit_card.cpp"
