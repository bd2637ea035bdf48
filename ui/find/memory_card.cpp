#include "ui/find/memory_card.h"

#include <QVBoxLayout>

#include <cmath>

#include "ui/texts/memory_uses.h"
#include "ui/widgets/format.h"

namespace batchscope::ui {

MemoryCard::MemoryCard(const Theme& theme, QWidget* parent)
    : Card(tr("Memory use"), parent), parts_(new PartsBar(theme, this)), text_(dimmed_label({}, this)) {
  text_->setWordWrap(true);
  body()->addWidget(parts_);
  body()->addWidget(text_);
}

void MemoryCard::show_size(const SearchView& view, std::optional<std::int64_t> batch) {
  const bool known = view.memory && batch;
  parts_->setVisible(known);
  if (!known) {
    set_title(tr("Memory use"));
    text_->setText(view.memory || view.working() ? tr("Available after two probes.")
                                                 : tr("A predictive search shows the memory use of every batch size."));
    return;
  }
  set_title(tr("Memory use at batch size %1 (MB)").arg(format_count(*batch)));
  fill(view.memory->at(*batch), view.budget);
}

void MemoryCard::fill(const predict::PeakCurve::Point& point, std::uint64_t budget) {
  QList<StackedBar::Part> parts;
  for (const MemoryUse& use : memory_uses(point.by))
    parts.append({use.name, static_cast<double>(use.bytes), use.series});
  const bool over = budget > 0 && point.bytes > budget;
  const double difference = std::abs(static_cast<double>(budget) - static_cast<double>(point.bytes));
  if (over)
    parts.append({tr("over budget"), difference, 0, true});
  parts_->set_parts(parts, static_cast<double>(budget));
  const QString peak = format_bytes(static_cast<double>(point.bytes));
  text_->setText(budget == 0 ? tr("%1 at the peak of a step").arg(peak)
                 : over      ? tr("%1 at the peak of a step, %2 over the budget").arg(peak, format_bytes(difference))
                             : tr("%1 at the peak of a step, %2 free").arg(peak, format_bytes(difference)));
}

} // namespace batchscope::ui

#include "moc_memory_card.cpp"
