#include <QHBoxLayout>
#include <QVBoxLayout>

#include "ui/theme/theme.h"
#include "ui/widgets/format.h"
#include "ui/widgets/widgets.h"

namespace batchscope::ui {

PartsBar::PartsBar(const Theme& theme, QWidget* parent)
    : QWidget(parent), theme_(theme), bar_(new StackedBar(theme, this)) {
  auto* layout = new QVBoxLayout(this);
  layout->setContentsMargins(0, 0, 0, 0);
  layout->setSpacing(Theme::lines(0.5));
  layout->addWidget(bar_);
  auto* columns = new QHBoxLayout;
  columns->setSpacing(Theme::lines(0.9));
  for (FactList*& column : columns_) {
    column = new FactList(this);
    columns->addWidget(column, 1, Qt::AlignTop);
  }
  layout->addLayout(columns);
}

void PartsBar::set_parts(const QList<StackedBar::Part>& parts, double limit) {
  std::array<QList<FactList::Fact>, 2> facts;
  for (qsizetype i = 0; i < parts.size(); ++i) {
    const StackedBar::Part& part = parts[i];
    const QColor color = part.missing ? theme_.color(Role::error) : theme_.series(part.series);
    facts[static_cast<std::size_t>(i % 2)].append({part.name, format_bytes(part.bytes), color.name(), part.missing});
  }
  bar_->set_parts(parts, limit);
  for (std::size_t i = 0; i < columns_.size(); ++i)
    columns_[i]->set_facts(facts[i]);
}

} // namespace batchscope::ui
