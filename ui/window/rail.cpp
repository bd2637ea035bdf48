#include "ui/window/rail.h"

#include <QAction>
#include <QToolButton>
#include <QVBoxLayout>

#include "ui/theme/theme.h"

namespace batchscope::ui {

Rail::Rail(QWidget* parent) : QFrame(parent), layout_(new QVBoxLayout(this)) {
  setProperty("kind", QStringLiteral("rail"));
  setAccessibleName(tr("Pages"));
  layout_->setContentsMargins(0, Theme::lines(0.5), 0, Theme::lines(0.5));
  layout_->setSpacing(0);
  layout_->addStretch();
}

void Rail::add(QAction& place) {
  auto* button = new QToolButton(this);
  button->setProperty("kind", QStringLiteral("rail"));
  // The actions alone decide which one is checked: a group of buttons would keep its own state.
  button->setDefaultAction(&place);
  button->setToolButtonStyle(Qt::ToolButtonTextUnderIcon);
  button->setIconSize(QSize(Theme::lines(1.25), Theme::lines(1.25)));
  button->setMinimumSize(Theme::lines(4.75), Theme::lines(3.6));
  button->setSizePolicy(QSizePolicy::Expanding, QSizePolicy::Fixed);
  // A click leaves the keyboard focus to the page.
  button->setFocusPolicy(Qt::TabFocus);
  button->setAccessibleName(place.text());
  button->setAccessibleDescription(place.toolTip());
  layout_->insertWidget(layout_->count() - 1, button);
}

} // namespace batchscope::ui

#include "moc_rail.cpp"
