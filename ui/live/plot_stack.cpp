#include "ui/live/plot_stack.h"

#include <QLabel>
#include <QPushButton>
#include <QScrollArea>
#include <QVBoxLayout>

#include <limits>

#include "ui/live/plot_chooser.h"
#include "ui/plot/linked_plots.h"
#include "ui/theme/theme.h"

namespace batchscope::ui {

PlotStack::PlotStack(LinkedPlots& plots, PlotChooser& chooser, QWidget* parent)
    : QStackedWidget(parent), scroll_(new QScrollArea(this)), none_(new QWidget(this)) {
  constexpr double least_of_a_plot = 6, least = 12; // lines
  plots.set_needed(least_of_a_plot, std::numeric_limits<double>::infinity());
  scroll_->setObjectName(QStringLiteral("plots-scroll"));
  scroll_->setWidget(&plots);
  scroll_->setWidgetResizable(true);
  scroll_->setFrameShape(QFrame::NoFrame);
  scroll_->setHorizontalScrollBarPolicy(Qt::ScrollBarAlwaysOff);
  scroll_->setFocusPolicy(Qt::NoFocus);
  scroll_->setMinimumHeight(Theme::lines(least));
  auto* text = new QLabel(tr("All plots are switched off."), none_);
  auto* choose = new QPushButton(tr("Choose plots…"), none_);
  connect(choose, &QPushButton::clicked, &chooser, &PlotChooser::open);
  auto* layout = new QVBoxLayout(none_);
  layout->addStretch(1);
  layout->addWidget(text, 0, Qt::AlignHCenter);
  layout->addWidget(choose, 0, Qt::AlignHCenter);
  layout->addStretch(1);
  addWidget(scroll_);
  addWidget(none_);
}

void PlotStack::set_any_shown(bool any) {
  setCurrentWidget(any ? static_cast<QWidget*>(scroll_) : none_);
}

} // namespace batchscope::ui

#include "moc_plot_stack.cpp"
