#include "ui/live/live_page.h"

#include <algorithm>
#include <utility>

#include <QAbstractButton>
#include <QAction>
#include <QApplication>
#include <QComboBox>
#include <QKeyEvent>
#include <QScrollArea>
#include <QSlider>
#include <QSplitter>
#include <QStackedWidget>
#include <QVBoxLayout>

#include "ui/findings/findings_card.h"
#include "ui/live/event_table.h"
#include "ui/live/no_run.h"
#include "ui/live/oom_card.h"
#include "ui/live/plan_layer.h"
#include "ui/live/plot_chooser.h"
#include "ui/live/plot_stack.h"
#include "ui/live/reading_card.h"
#include "ui/live/reason_card.h"
#include "ui/live/run_header.h"
#include "ui/live/run_summary.h"
#include "ui/live/run_tabs.h"
#include "ui/live/view_bar.h"
#include "ui/opened_runs/budget_edit.h"
#include "ui/output/output_view.h"
#include "ui/plan/plan_handles.h"
#include "ui/plot/units.h"
#include "ui/widgets/commands.h"
#include "ui/widgets/format.h"
#include "ui/widgets/widgets.h"

namespace batchscope::ui {

namespace {

constexpr int text_interval_ms = 250;
constexpr double outliers = 0.01; ///< fraction cut off at either end when outliers are clipped
constexpr int page_margin = 12;
constexpr int between_cards = 10;

QString axis_label(series::Axis axis) {
  switch (axis) {
  case series::Axis::step:
    return LivePage::tr("optimizer step");
  case series::Axis::examples:
    return LivePage::tr("examples seen");
  case series::Axis::epoch:
    return LivePage::tr("epoch");
  case series::Axis::clock:
    return LivePage::tr("date and time");
  case series::Axis::seconds:
    break;
  }
  return LivePage::tr("seconds since the start, pauses excluded");
}

XValues values_of(series::Axis axis) {
  if (axis == series::Axis::clock)
    return XValues::clock;
  return axis == series::Axis::step || axis == series::Axis::examples ? XValues::whole : XValues::real;
}

LinkedPlots* new_plots(const Theme& theme, QWidget* parent) {
  auto* plots = new LinkedPlots(theme, parent);
  LiveCurves::add_panels(*plots);
  // Their shortcuts work on the whole page.
  for (QAction* action : {plots->log_action(loss_panel), plots->follow_action()}) {
    action->setShortcutContext(Qt::WidgetWithChildrenShortcut);
    parent->addAction(action);
  }
  return plots;
}

} // namespace

LivePage::LivePage(Workbench& workbench, QWidget* parent)
    : Page(parent), workbench_(workbench), stack_(new QStackedWidget(this)), header_(new RunHeader(this)),
      reason_(new ReasonCard(this)), plots_(new_plots(workbench.theme(), this)),
      view_(new ViewBar(plots_->log_action(loss_panel), plots_->follow_action(), this)),
      tabs_(new RunTabs(workbench.theme(), this)), events_(&tabs_->events()),
      oom_(new OomCard(workbench.theme(), this)), reading_(new ReadingCard(workbench.theme(), this)),
      between_(new BetweenCard(workbench.theme(), this)), findings_(new FindingsCard(workbench.theme(), this)),
      adviser_(workbench.run_database().database()), curves_(*plots_), marks_(*plots_), limit_(*plots_),
      plan_(new PlanLayer(*plots_, workbench.undo_stack(), this)) {
  curves_.set_smoothing(view_->smoothing());
  stack_->addWidget(new NoRun(workbench, this));
  stack_->addWidget(make_content());
  auto* layout = new QVBoxLayout(this);
  layout->setContentsMargins(0, 0, 0, 0);
  layout->addWidget(stack_);
  setFocusProxy(plots_);
  texts_.setSingleShot(true);
  texts_.setInterval(text_interval_ms);
  for (QTimer* soon : {&smoothing_, &new_events_}) {
    soon->setSingleShot(true);
    soon->setInterval(0);
  }
  connect_parts();
  search_action_ = make_command(this, tr("Search the program's output"), tr("Search in the program's output"),
                                QKeySequence::Find, workbench.theme().icon(QStringLiteral("search")));
  search_action_->setObjectName(QStringLiteral("search-output"));
  connect(search_action_, &QAction::triggered, this, [this] {
    Q_EMIT workbench_.page_wanted(key());
    tabs_->search_output();
  });
  for (QAction* action : header_->run_actions() + view_->view_actions())
    addAction(action);
  show_runs();
}

LivePage::~LivePage() = default;

QWidget* LivePage::make_content() {
  auto* content = new QWidget(this);
  auto* upper = new QWidget(content);
  auto* row = new QHBoxLayout(upper);
  row->setContentsMargins(0, 0, 0, 0);
  row->setSpacing(between_cards);
  row->addWidget(make_plots(), 1);
  row->addWidget(make_cards());
  auto* table = new Card({}, content);
  table->layout()->setContentsMargins(1, Theme::lines(0.25), 1, Theme::lines(0.25));
  table->body()->addWidget(tabs_);
  splitter_ = new QSplitter(Qt::Vertical, content);
  splitter_->setHandleWidth(between_cards);
  splitter_->addWidget(upper);
  splitter_->addWidget(table);
  splitter_->setStretchFactor(0, 1);
  splitter_->setStretchFactor(1, 0);
  splitter_->setCollapsible(0, false);
  splitter_->setSizes({Theme::lines(36), Theme::lines(9)});
  auto* layout = new QVBoxLayout(content);
  layout->setContentsMargins(page_margin, page_margin, page_margin, page_margin);
  layout->setSpacing(between_cards);
  layout->addWidget(header_);
  layout->addWidget(splitter_, 1);
  return content;
}

QWidget* LivePage::make_plots() {
  auto* card = new Card({}, this);
  card->layout()->setContentsMargins(between_cards, page_margin / 2, between_cards, page_margin / 2);
  stacked_ = new PlotStack(*plots_, view_->plots(), card);
  card->body()->addWidget(stacked_, 1);
  card->body()->addWidget(view_);
  return card;
}

QWidget* LivePage::make_cards() {
  auto* column = new QWidget(this);
  auto* layout = new QVBoxLayout(column);
  layout->setContentsMargins(0, 0, 0, 0);
  layout->setSpacing(between_cards);
  layout->addWidget(reason_);
  layout->addWidget(oom_);
  layout->addWidget(between_);
  layout->addWidget(reading_);
  layout->addWidget(findings_);
  layout->addStretch(1);
  cards_ = new QScrollArea(this);
  cards_->setWidget(column);
  cards_->setWidgetResizable(true);
  cards_->setFrameShape(QFrame::NoFrame);
  cards_->setHorizontalScrollBarPolicy(Qt::ScrollBarAlwaysOff);
  cards_->setFixedWidth(Theme::lines(20));
  cards_->setFocusPolicy(Qt::NoFocus);
  oom_->hide();
  between_->hide();
  findings_->hide();
  return cards_;
}

void LivePage::connect_parts() {
  connect(&workbench_, &Workbench::opened_changed, this, &LivePage::show_runs);
  connect(&workbench_, &Workbench::names_changed, this, &LivePage::show_curves);
  connect(&workbench_.theme(), &Theme::changed, this, &LivePage::update_readings);
  connect(header_, &RunHeader::edit_wanted, this, [this] { Q_EMIT workbench_.page_wanted("schedule"); });
  connect(header_, &RunHeader::again_wanted, this, [this] {
    if (const OpenRun* run = workbench_.current(); run != nullptr && run->spec())
      workbench_.propose_run(*run->spec());
  });
  connect(view_, &ViewBar::axis_changed, this, &LivePage::change_axis);
  connect(view_, &ViewBar::smoothing_changed, this, [this] {
    curves_.set_smoothing(view_->smoothing());
    draw();
  });
  connect(view_, &ViewBar::clipping_changed, this, [this] {
    plots_->set_clipping(view_->clipping() ? outliers : 0);
    draw();
  });
  connect(view_, &ViewBar::by_stream_changed, this, [this] {
    curves_.set_by_stream(view_->by_stream());
    show_curves();
  });
  connect(&view_->plots(), &PlotChooser::opening, this, [this] {
    Q_EMIT workbench_.page_wanted(key()); // the command is there on every page
    view_->plots().offer(curves_.offered(workbench_.opened()));
  });
  connect(&view_->plots(), &PlotChooser::chosen, this, [this] {
    curves_.set_plots(view_->plots().choices());
    show_curves();
  });
  connect(plots_, &LinkedPlots::view_changed, &smoothing_, qOverload<>(&QTimer::start));
  connect(plots_, &LinkedPlots::crosshair_moved, this, &LivePage::update_readings);
  connect(plots_, &LinkedPlots::cursors_changed, this, &LivePage::update_readings);
  connect(plots_, &LinkedPlots::mark_chosen, this, [this](qint64 id) { choose(static_cast<int>(id)); });
  connect(plots_, &LinkedPlots::handle_dropped, this, [this](qint64 id, double y) {
    if (OpenRun* run = workbench_.current(); run != nullptr && id == limit_handle)
      workbench_.undo_stack().push(new BudgetEdit(*run, static_cast<std::uint64_t>(y / to_megabytes)));
  });
  connect(plots_, &LinkedPlots::problem, &workbench_, &Workbench::problem);
  connect(plots_, &LinkedPlots::saved, this,
          [this](const QString& file) { Q_EMIT workbench_.note(tr("Saved: %1").arg(file)); });
  connect(plan_, &PlanLayer::problem, &workbench_, &Workbench::problem);
  connect(findings_, &FindingsCard::run_proposed, &workbench_, &Workbench::propose_run);
  connect(&adviser_, &Adviser::judged, this, &LivePage::show_findings);
  connect(&tabs_->output(), &OutputView::problem, &workbench_, &Workbench::problem);
  connect(events_, &EventTable::chosen, this, [this](int number) { choose(number); });
  connect(&texts_, &QTimer::timeout, this, &LivePage::update_texts);
  connect(&smoothing_, &QTimer::timeout, this, &LivePage::draw);
  connect(&new_events_, &QTimer::timeout, this, &LivePage::take_events);
  connect(&plan_->editor(), &PlanEditor::plan_changed, this, [this] {
    if (isVisible() && !texts_.isActive())
      texts_.start(); // planned values have changed
  });
  // Space activates a focused button; elsewhere it pauses the run.
  for (auto* button : findChildren<QAbstractButton*>())
    button->installEventFilter(this);
  for (auto* box : findChildren<QComboBox*>())
    box->installEventFilter(this);
}

bool LivePage::eventFilter(QObject* watched, QEvent* event) {
  if (event->type() == QEvent::ShortcutOverride && static_cast<QKeyEvent*>(event)->key() == Qt::Key_Space)
    event->accept();
  return Page::eventFilter(watched, event);
}

QList<QAction*> LivePage::page_actions() const {
  return header_->run_actions() + view_->view_actions() + QList<QAction*>{search_action_} + plots_->actions_for_menu();
}

void LivePage::show_runs() {
  watching_ = std::make_unique<QObject>();
  runs_.clear();
  for (OpenRun* run : workbench_.opened()) {
    runs_ += run;
    connect(run, &OpenRun::grew, watching_.get(), [this] { take_records(); });
    connect(run, &OpenRun::described, watching_.get(), [this] {
      show_curves();
      show_output();
    });
  }
  OpenRun* current = workbench_.current();
  show_content(current != nullptr);
  header_->show_run(current);
  events_->show(current);
  show_output();
  chosen_.reset();
  shown_oom_.reset();
  latest_oom_.reset();
  seen_events_ = 0;
  findings_->hide(); // of the run before
  // Cursors on another run's axis are meaningless here.
  if (const qint64 before = std::exchange(current_, current != nullptr ? current->id() : 0); before != current_) {
    plots_->set_cursors(std::nullopt, std::nullopt);
    plots_->set_crosshair(std::nullopt);
  }
  if (current != nullptr) {
    connect(current, &OpenRun::event_came, watching_.get(), [this] { new_events_.start(); });
    connect(current, &OpenRun::status_changed, watching_.get(), [this, current] {
      reason_->show_run(current);
      show_output();
      judge();
      if (current->running() != was_running_)
        show_curves();
    });
  }
  reason_->show_run(current);
  show_curves();
  plots_->show_all();
  take_events();
}

/// Shows the output of the current run, and whether it can be searched.
void LivePage::show_output() {
  tabs_->show_output_of(workbench_.current());
  allow(*search_action_, tabs_->has_output(), tr("Only runs of your own programs have output"));
}

void LivePage::show_content(bool content) {
  if (stack_->currentIndex() == int(content))
    return;
  const QWidget* focused = QApplication::focusWidget();
  const bool keyboard_here = isVisible() && (focused == nullptr || isAncestorOf(focused));
  stack_->setCurrentIndex(int(content));
  if (!keyboard_here)
    return;
  // The widget that had the focus is gone; the mouse reason avoids a visible focus frame here.
  plots_->clearFocus();
  plots_->setFocus(Qt::MouseFocusReason);
}

void LivePage::show_curves() {
  OpenRun* current = workbench_.current();
  const bool known = is_known(view_->axis());
  const series::Axis axis = known ? view_->axis() : series::Axis::step;
  axis_ = axis;
  was_running_ = current != nullptr && current->running();
  curves_.show(workbench_.opened(), axis);
  stacked_->set_any_shown(curves_.any_plot());
  view_->set_has_streams(curves_.has_streams());
  plan_->show(current, axis, curves_.current_look());
  marks_.show(current, axis);
  plots_->set_caption(caption());
  plots_->set_x_label(known ? axis_label(axis)
                            : tr("%1 (%2: not known)").arg(axis_label(axis), axis_label(view_->axis())));
  plots_->set_x_values(values_of(axis));
  if (chosen_)
    plots_->choose_mark(*chosen_);
  draw();
  update_texts();
}

/// Whether any run has places on this axis: of an imported one, examples and times may not be known. On the clock, a
/// single run without a date would be decades away from the others.
bool LivePage::is_known(series::Axis axis) const {
  const QList<OpenRun*>& runs = workbench_.opened();
  const bool clock = axis == series::Axis::clock;
  const auto has = [&](const OpenRun* run) {
    const series::History& history = *run->history();
    return run->steps() == 0 || (history.position(run->steps(), clock ? series::Axis::seconds : axis).value_or(0) > 0 &&
                                 (!clock || history.began() > 0));
  };
  return clock ? std::all_of(runs.begin(), runs.end(), has)
               : runs.isEmpty() || std::any_of(runs.begin(), runs.end(), has);
}

/// Names the runs of a saved picture.
QString LivePage::caption() const {
  const OpenRun* run = workbench_.current();
  if (run == nullptr)
    return {};
  const QString name = tr("Run %1: %2").arg(run->id()).arg(run->name());
  const auto others = workbench_.opened().size() - 1;
  if (others == 0)
    return name;
  return others == 1 ? tr("%1, and 1 other").arg(name) : tr("%1, and %2 others").arg(name).arg(others);
}

/// Shows the curves anew, and along another axis all of it.
void LivePage::change_axis() {
  const series::Axis before = axis_;
  show_curves();
  if (axis_ == before)
    return;
  move_cursors(before, axis_);
  plots_->show_all();
}

/// Whether there is more to show, or to show it by, than at the last show_curves().
bool LivePage::outdated() const {
  return curves_.outdated() || is_known(view_->axis()) != (axis_ == view_->axis());
}

void LivePage::take_records() {
  if (!isVisible())
    return;
  if (outdated())
    change_axis();
  plan_->follow();
  if (const OpenRun* run = workbench_.current())
    marks_.update(*run); // for a step that is done now
  draw();
}

void LivePage::draw() {
  if (!isVisible())
    return;
  if (!curves_.catch_up())
    smoothing_.start();
  else if (!texts_.isActive())
    texts_.start(); // values have changed
  plots_->refresh();
}

void LivePage::take_events() {
  const OpenRun* run = workbench_.current();
  if (run == nullptr || !isVisible())
    return;
  marks_.update(*run);
  show_oom();
  show_output();
  judge();
}

void LivePage::showEvent(QShowEvent* event) {
  Page::showEvent(event);
  if (outdated())
    change_axis();
  plan_->follow();
  take_events();
  draw();
  update_texts();
}

void LivePage::update_texts() {
  if (!isVisible())
    return;
  header_->update_figures();
  limit_.update(workbench_.current(), plan_->highest_peak(), plan_->end(), axis_);
  update_readings();
}

/// Shows everything about an event and the values of its step, however it was selected.
void LivePage::choose(int event) {
  const OpenRun* run = workbench_.current();
  if (run == nullptr)
    return;
  chosen_ = event;
  events_->choose(event);
  plots_->choose_mark(event);
  if (const auto place = EventMarks::place(*run, event, axis_))
    plots_->set_crosshair(*place);
  show_oom();
  update_readings();
}

/// The selected one, else the latest.
void LivePage::show_oom() {
  const OpenRun* run = workbench_.current();
  if (run == nullptr)
    return;
  const auto& events = run->events();
  const auto is_oom = [&events](std::size_t number) {
    return std::holds_alternative<telemetry::OutOfMemory>(events[number].body);
  };
  for (; seen_events_ < events.size(); ++seen_events_) {
    if (is_oom(seen_events_))
      latest_oom_ = static_cast<int>(seen_events_);
  }
  const auto number = chosen_ && is_oom(*chosen_) ? chosen_ : latest_oom_;
  oom_->setVisible(number.has_value());
  if (number && number != shown_oom_)
    oom_->show_event(events[*number].step, std::get<telemetry::OutOfMemory>(events[*number].body),
                     run->reads_whole_process());
  shown_oom_ = number;
}

void LivePage::judge() {
  if (const OpenRun* run = workbench_.current(); run != nullptr && isVisible())
    adviser_.judge({run->id()});
}

void LivePage::show_findings(const std::vector<advice::RunFindings>& findings) {
  const OpenRun* run = workbench_.current();
  const bool any =
      run != nullptr && !findings.empty() && findings.front().run == run->id() && !findings.front().findings.empty();
  findings_->setVisible(any);
  if (any)
    findings_->show_findings(tr("Findings"), findings.front().findings, run->spec());
}

bool LivePage::shows_problem(const QString& problem) const {
  const OpenRun* run = workbench_.current();
  return run != nullptr && !reason_->isHidden() && problem.contains(run->reason());
}

QList<KeyGroup> LivePage::key_groups() const {
  return {{tr("Plots"), LinkedPlots::key_help()}, {tr("Program's output"), OutputView::key_help()}};
}

QJsonObject LivePage::state() const {
  return {{"view", view_->state()},
          {"events", events_->state()},
          {"output", tabs_->prefers_output()},
          {"splitter", QString::fromLatin1(splitter_->saveState().toBase64())}};
}

void LivePage::restore(const QJsonObject& state) {
  view_->restore(state.value("view").toObject());
  events_->restore(state.value("events").toObject());
  tabs_->prefer_output(state.value("output").toBool());
  splitter_->restoreState(QByteArray::fromBase64(state.value("splitter").toString().toLatin1()));
}

} // namespace batchscope::ui

#include "moc_live_page.cpp"
