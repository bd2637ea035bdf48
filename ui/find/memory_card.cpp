#include "ui/find/memory_card.h"

#include <QHBoxLayout>
#include <QLocale>

#include <cmath>

#include "ui/theme/theme.h"
#include "ui/widgets/format.h"

namespace batchscope::ui {

namespace {

/// In the order of the bar, with the colour that each use has everywhere.
struct UseStyle {
  predict::Use use;
  int series;
};
constexpr std::array<UseStyle, predict::use_count> uses{{{predict::Use::parameters, 0},
                                                         {predict::Use::gradients, 4},
                                                         {predict::Use::optimizer, 2},
                                                         {predict::Use::activations, 1},
                                                         {predict::Use::workspace, 3},
                                                         {predict::Use::batch, 5}}};

/// With as many digits as tell something: 344.3, 0.05.
QString megabytes(double bytes) {
  const double value = bytes / 1e6;
  return QLocale().toString(value, 'f', value > 0 && value < 0.95 ? 2 : 1);
}

} // namespace

MemoryCard::MemoryCard(const Theme& theme, QWidget* parent)
    : Card(tr("What fills the memory"), parent), theme_(theme), bar_(new StackedBar(theme, this)),
      text_(dimmed_label({}, this)) {
  text_->setWordWrap(true);
  auto* columns = new QHBoxLayout;
  columns->setSpacing(20);
  for (FactList*& list : legend_) {
    list = new FactList(this);
    columns->addWidget(list, 1, Qt::AlignTop);
  }
  body()->addWidget(bar_);
  body()->addLayout(columns);
  body()->addWidget(text_);
}

void MemoryCard::show_size(const SearchView& view, std::optional<std::int64_t> batch) {
  const bool known = view.memory && batch;
  bar_->setVisible(known);
  for (FactList* list : legend_)
    list->setVisible(known);
  if (!known) {
    set_title(tr("What fills the memory"));
    text_->setText(view.memory || view.working() ? tr("Known once two sizes were run.")
                                                 : tr("A predictive search tells what fills it at any size."));
    return;
  }
  set_title(tr("What fills the memory at %1 (MB)").arg(format_count(*batch)));
  fill(view.memory->at(*batch), view.budget);
}

void MemoryCard::fill(const predict::PeakCurve::Point& point, std::uint64_t budget) {
  QList<StackedBar::Part> parts;
  std::array<QList<FactList::Fact>, 2> facts;
  for (std::size_t i = 0; i < uses.size(); ++i) {
    const auto bytes = static_cast<double>(point.by[static_cast<std::size_t>(uses[i].use)]);
    const QString name = QString::fromLatin1(predict::to_string(uses[i].use));
    parts.append({name, bytes, uses[i].series});
    facts[i % 2].append({name, megabytes(bytes), theme_.series(uses[i].series).name()});
  }
  const bool over = budget > 0 && point.bytes > budget;
  const double difference = std::abs(static_cast<double>(budget) - static_cast<double>(point.bytes));
  if (over)
    parts.append({tr("missing"), difference, 0, true});
  bar_->set_parts(parts, static_cast<double>(budget));
  for (std::size_t i = 0; i < legend_.size(); ++i)
    legend_[i]->set_facts(facts[i]);
  const QString peak = format_bytes(static_cast<double>(point.bytes));
  text_->setText(budget == 0 ? tr("%1 at the peak of a step").arg(peak)
                 : over      ? tr("%1 at the peak of a step, %2 too much").arg(peak, format_bytes(difference))
                             : tr("%1 at the peak of a step, %2 left").arg(peak, format_bytes(difference)));
}

} // namespace batchscope::ui
