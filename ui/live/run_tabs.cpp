#include "ui/live/run_tabs.h"

#include <QHBoxLayout>
#include <QStackedWidget>
#include <QTabBar>

#include "ui/live/event_table.h"
#include "ui/output/output_view.h"

namespace batchscope::ui {

namespace {

enum Tab { events_tab, output_tab };

} // namespace

RunTabs::RunTabs(const Theme& theme, QWidget* parent)
    : QWidget(parent), bar_(new QTabBar(this)), stack_(new QStackedWidget(this)),
      events_(new EventTable(theme, stack_)), output_(new OutputView(theme, stack_)) {
  bar_->setObjectName(QStringLiteral("run-tabs"));
  bar_->setExpanding(false);
  bar_->setDrawBase(false);
  bar_->addTab(tr("Events"));
  bar_->addTab(tr("Program's output"));
  stack_->addWidget(events_);
  stack_->addWidget(output_);
  auto* row = new QHBoxLayout;
  row->setContentsMargins(0, 0, Theme::lines(0.4), 0);
  row->setSpacing(Theme::lines(1));
  row->addWidget(bar_);
  row->addWidget(output_->tools(), 1);
  auto* layout = new QVBoxLayout(this);
  layout->setContentsMargins(0, 0, 0, 0);
  layout->setSpacing(Theme::lines(0.25));
  layout->addLayout(row);
  layout->addWidget(stack_, 1);
  connect(bar_, &QTabBar::currentChanged, this, [this](int tab) { prefer_output(tab == output_tab); });
  show_output_of(nullptr);
}

void RunTabs::show_output_of(const OpenRun* run) {
  has_output_ = run != nullptr && run->spec() && run->spec()->program;
  show_tab();
  if (!has_output_)
    return output_->show_none();
  const auto& start = run->start();
  output_->show_output({.file = start && start->program ? QString::fromStdString(start->program->output) : QString(),
                        .grows = run->running(),
                        .stored_end = run->stored_output()});
}

void RunTabs::search_output() {
  if (!has_output_)
    return;
  prefer_output(true);
  output_->open_search();
}

void RunTabs::prefer_output(bool output) {
  prefers_output_ = output;
  show_tab();
}

void RunTabs::show_tab() {
  const Tab tab = has_output_ && prefers_output_ ? output_tab : events_tab;
  bar_->setVisible(has_output_);
  bar_->setCurrentIndex(prefers_output_ ? output_tab : events_tab);
  output_->tools()->setVisible(tab == output_tab);
  stack_->setCurrentIndex(tab);
}

} // namespace batchscope::ui

#include "moc_run_tabs.cpp"
