#include "ui/memory/memory_parts.h"

#include <QVBoxLayout>

#include <cmath>

#include "ui/texts/memory_uses.h"
#include "ui/widgets/format.h"

namespace batchscope::ui {

MemoryParts::MemoryParts(const Theme& theme, QWidget* parent)
    : QWidget(parent), parts_(new PartsBar(theme, this)), text_(dimmed_label({}, this)) {
  text_->setObjectName(QStringLiteral("memory-text"));
  auto* column = new QVBoxLayout(this);
  column->setContentsMargins(0, 0, 0, 0);
  text_->setWordWrap(true);
  column->addWidget(parts_);
  column->addWidget(text_);
}

void MemoryParts::show_text(const QString& text) {
  parts_->hide();
  text_->setText(text);
}

void MemoryParts::show_peak(const predict::PeakCurve::Point& point, std::uint64_t budget_bytes,
                            std::optional<std::uint64_t> measured) {
  QList<StackedBar::Part> parts;
  for (const MemoryUse& use : memory_uses(point.by))
    parts.append({use.name, static_cast<double>(use.bytes), use.series});
  const bool too_much = budget_bytes > 0 && point.bytes > budget_bytes, over = too_much && !measured;
  const double difference = std::abs(static_cast<double>(budget_bytes) - static_cast<double>(point.bytes));
  if (over)
    parts.append({tr("over budget"), difference, 0, true});
  parts_->set_parts(parts, static_cast<double>(budget_bytes));
  parts_->show();
  const QString peak = format_bytes(static_cast<double>(point.bytes));
  text_->setText(too_much && measured ? tr("%1 predicted at the peak of a step, %2 measured: it fits")
                                            .arg(peak, format_bytes(static_cast<double>(*measured)))
                 : budget_bytes == 0 ? tr("%1 at the peak of a step").arg(peak)
                 : over ? tr("%1 at the peak of a step, %2 over the budget").arg(peak, format_bytes(difference))
                        : tr("%1 at the peak of a step, %2 free").arg(peak, format_bytes(difference)));
}

} // namespace batchscope::ui

#include "moc_memory_parts.cpp"
