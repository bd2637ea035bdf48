#include "ui/find/memory_card.h"

#include <QVBoxLayout>

#include "ui/widgets/format.h"

namespace batchscope::ui {

MemoryCard::MemoryCard(const Theme& theme, QWidget* parent)
    : Card(tr("Memory use"), parent), parts_(new MemoryParts(theme, this)) {
  body()->addWidget(parts_);
}

void MemoryCard::show_size(const SearchView& view, std::optional<std::int64_t> batch) {
  if (view.memory && batch) {
    const auto known = peak_at(view, *batch);
    parts_->show_peak(view.memory->at(*batch), view.budget,
                      known && known->measured ? std::optional(known->bytes) : std::nullopt);
    return set_title(tr("Memory use at batch size %1").arg(format_count(*batch)));
  }
  set_title(tr("Memory use"));
  parts_->show_text(view.memory || view.working() ? tr("Available once the search has predicted it.")
                                                  : tr("No memory prediction is stored with this search."));
}

} // namespace batchscope::ui

#include "moc_memory_card.cpp"
