#include "ui/sweep/sweep_page.h"

#include <QAction>
#include <QApplication>
#include <QComboBox>
#include <QHBoxLayout>
#include <QJsonObject>
#include <QLineEdit>
#include <QScrollArea>
#include <QSplitter>
#include <QStackedWidget>

#include <algorithm>

#include "core/base/error.h"
#include "core/store/run_reader.h"
#include "ui/sweep/cells_picture.h"
#include "ui/sweep/how_card.h"
#include "ui/sweep/now_card.h"
#include "ui/sweep/sweep_charts.h"
#include "ui/sweep/sweep_header.h"
#include "ui/sweep/sweep_table.h"
#include "ui/sweep/vary_card.h"
#include "ui/texts/answer_texts.h"
#include "ui/widgets/answer_banner.h"
#include "ui/widgets/commands.h"
#include "ui/widgets/format.h"
#include "ui/widgets/widgets.h"
#include "ui/workbench/goal_box.h"

namespace batchscope::ui {

namespace {

constexpr double one_row_lines = 18;
constexpr double beside_charts_lines = 10;
constexpr double cards_width = 19.5; // in lines of text

sweep::SweepSpec first_plan() {
  sweep::SweepSpec plan;
  plan.vary = {sweep::parse_values("batch", "16..128 x2")};
  return plan;
}

} // namespace

SweepPage::SweepPage(Workbench& workbench, QWidget* parent)
    : Page(parent), workbench_(workbench), reader_(workbench.run_database().database()),
      planner_(workbench.run_database().database(), workbench.job_queue().data()), plan_(first_plan()) {
  make_actions();
  header_ = new SweepHeader(
      {.start = start_, .add = add_, .resume = resume_, .pause = pause_, .stop = stop_, .compare = compare_}, this);
  connect(header_, &SweepHeader::sweep_chosen, this, [this](qint64 sweep) {
    chosen_by_user_ = true;
    show_sweep(sweep);
  });
  connect(header_, &SweepHeader::new_chosen, this, &SweepPage::plan_anew);
  empty_ =
      new EmptyState(tr("Which settings are best?"),
                     tr("A sweep trains every combination of the values that you choose, such as batch sizes and "
                        "learning rates, and repeats them with other seeds. Its cells fill here, and the answer so "
                        "far is shown above them."),
                     tr("Plan a sweep"), this);
  connect(empty_, &EmptyState::action_chosen, this, &SweepPage::plan_anew);
  make_body();
  stack_ = new QStackedWidget(this);
  stack_->addWidget(empty_);
  stack_->addWidget(body_);
  auto* layout = new QVBoxLayout(this);
  layout->setContentsMargins(12, 12, 12, 12);
  layout->setSpacing(10);
  layout->addWidget(header_);
  layout->addWidget(stack_, 1);
  follow_reader();
  follow_workbench();
  show_sweep(std::nullopt);
}

void SweepPage::make_body() {
  body_ = new QWidget(this);
  auto* column = new QVBoxLayout(body_);
  column->setContentsMargins(0, 0, 0, 0);
  column->setSpacing(10);
  banner_ = new AnswerBanner(body_);
  banner_->setObjectName(QStringLiteral("plan_or_answer"));
  column->addWidget(banner_);
  splitter_ = new QSplitter(Qt::Vertical, body_);
  splitter_->setHandleWidth(10);
  splitter_->setChildrenCollapsible(false);
  auto* above = new QWidget(splitter_);
  auto* row = new QHBoxLayout(above);
  row->setContentsMargins(0, 0, 0, 0);
  row->setSpacing(10);
  row->addWidget(make_side());
  auto* pictures = new QVBoxLayout;
  pictures->setSpacing(10);
  pictures->addWidget(make_picture_card(), 1);
  charts_card_ = new Card({}, above);
  charts_ = new SweepCharts(workbench_.theme(), charts_card_);
  charts_card_->body()->addWidget(charts_);
  charts_card_->hide();
  pictures->addWidget(charts_card_, 2);
  pictures->addStretch(0);
  row->addLayout(pictures, 1);
  splitter_->addWidget(above);
  splitter_->addWidget(make_table_card());
  splitter_->setStretchFactor(0, 5);
  splitter_->setStretchFactor(1, 3);
  connect(splitter_, &QSplitter::splitterMoved, this,
          [this] { split_ = QString::fromLatin1(splitter_->saveState().toBase64()); });
  column->addWidget(splitter_, 1);
}

QWidget* SweepPage::make_side() {
  auto* side = new QWidget(body_);
  auto* column = new QVBoxLayout(side);
  column->setContentsMargins(0, 0, 0, 0);
  column->setSpacing(10);
  vary_ = new VaryCard(side);
  vary_->setObjectName(QStringLiteral("vary"));
  how_ = new HowCard(side);
  how_->setObjectName(QStringLiteral("how_card"));
  now_ = new NowCard(workbench_.run_database(), side);
  for (QWidget* card : {static_cast<QWidget*>(vary_), static_cast<QWidget*>(how_), static_cast<QWidget*>(now_)})
    column->addWidget(card);
  column->addStretch(1);
  connect(vary_, &VaryCard::changed, this, &SweepPage::take_edits);
  connect(how_, &HowCard::changed, this, &SweepPage::take_edits);
  connect(how_, &HowCard::base_wanted, this, [this] { workbench_.propose_run(plan_.base); });
  // Queued: the card may drop the run that has just said it.
  connect(now_, &NowCard::status_changed, this, &SweepPage::refresh_view, Qt::QueuedConnection);
  auto* scroll = new QScrollArea(body_);
  scroll->setWidget(side);
  scroll->setWidgetResizable(true);
  scroll->setFrameShape(QFrame::NoFrame);
  scroll->setFocusPolicy(Qt::NoFocus);
  scroll->setHorizontalScrollBarPolicy(Qt::ScrollBarAlwaysOff);
  scroll->setFixedWidth(Theme::lines(cards_width));
  return scroll;
}

QWidget* SweepPage::make_picture_card() {
  auto* card = new Card({}, body_);
  picture_card_ = card;
  auto* top = new QHBoxLayout;
  top->setSpacing(8);
  picture_title_ = new QLabel(tr("Planned runs"), card);
  picture_title_->setProperty("kind", QStringLiteral("heading"));
  choices_ = new QWidget(card);
  auto* choices = new QHBoxLayout(choices_);
  choices->setContentsMargins(0, 0, 0, 0);
  choices->setSpacing(8);
  metric_box_ = new QComboBox(card);
  metric_box_->setObjectName(QStringLiteral("metric"));
  metric_box_->setAccessibleName(tr("Value that the cells show"));
  metric_box_->setToolTip(tr("Value that the cells show"));
  for (const Metric metric : metrics())
    metric_box_->addItem(metric_title(metric), metric_key(metric));
  connect(metric_box_, &QComboBox::activated, this, &SweepPage::set_metric);
  goal_box_ = new GoalBox(card);
  connect(goal_box_, &GoalBox::changed, this, &SweepPage::take_goal);
  legend_ = new ColorLegend(workbench_.theme(), card);
  choices->addWidget(metric_box_);
  choices->addWidget(goal_box_);
  top->addWidget(picture_title_);
  top->addWidget(choices_);
  top->addStretch(1);
  top->addWidget(legend_);
  card->body()->addLayout(top);
  picture_ = new CellsPicture(workbench_.theme(), card);
  picture_->setObjectName(QStringLiteral("cells"));
  card->body()->addWidget(picture_, 1);
  caption_ = new ElidedLabel(Qt::ElideRight, card);
  caption_->setProperty("kind", QStringLiteral("caption"));
  card->body()->addWidget(caption_);
  connect(picture_, &CellsPicture::choice_changed, this, [this] {
    table_->choose(picture_->chosen());
    allow_actions();
  });
  connect(picture_, &CellsPicture::opened, this, &SweepPage::open_runs);
  return card;
}

QWidget* SweepPage::make_table_card() {
  auto* card = new Card({}, body_);
  card->layout()->setContentsMargins(4, 2, 4, 2);
  table_ = new SweepTable(workbench_.theme(), card);
  table_->setObjectName(QStringLiteral("sweep_runs"));
  table_->setMinimumHeight(Theme::lines(5));
  card->body()->addWidget(table_);
  for (QAction* action : {open_, compare_, up_, down_, stop_run_})
    table_->addAction(action);
  skip_->setParent(table_);
  table_->addAction(skip_);
  connect(table_, &SweepTable::choice_changed, this, [this] {
    picture_->choose(table_->chosen());
    allow_actions();
  });
  connect(table_, &SweepTable::opened, this, &SweepPage::open_runs);
  const auto on_one = [this](auto slot) {
    return [this, slot](qulonglong entry, auto...) {
      table_->choose({static_cast<std::size_t>(entry)});
      (this->*slot)();
    };
  };
  connect(table_, &SweepTable::skip_wanted, this, [this](qulonglong entry) {
    const auto chosen = table_->chosen(); // all of them, if it is one of them
    if (std::find(chosen.begin(), chosen.end(), static_cast<std::size_t>(entry)) == chosen.end())
      table_->choose({static_cast<std::size_t>(entry)});
    skip_chosen();
  });
  connect(table_, &SweepTable::stop_wanted, this, on_one(&SweepPage::stop_chosen));
  connect(table_, &SweepTable::move_wanted, this, [this](qulonglong entry, bool up) {
    table_->choose({static_cast<std::size_t>(entry)});
    move_chosen(up);
  });
  return card;
}

void SweepPage::follow_reader() {
  connect(&reader_, &SweepReader::listed, this, [this](const std::vector<KnownSweep>& sweeps) {
    known_ = sweeps;
    if (!shown_ && !chosen_by_user_ && !known_.empty())
      return show_sweep(known_.back().id);
    header_->show_sweeps(known_, shown_);
    if (!shown_)
      refresh();
  });
  connect(&reader_, &SweepReader::content_read, this, &SweepPage::take_content);
  connect(&reader_, &SweepReader::answered, this, &SweepPage::take_answer);
  connect(&reader_, &SweepReader::refused, this, [this](qint64 sweep, const QString& why) {
    if (shown_ == sweep)
      show_no_plan(why);
  });
  connect(&planner_, &SweepPlanner::planned, this,
          [this](const std::shared_ptr<const SweepContent>& content,
                 const std::shared_ptr<const RunPredictions>& predictions) {
            if (shown_)
              return;
            plan_error_.clear();
            content_ = content;
            predictions_ = predictions;
            refresh_view();
          });
  connect(&planner_, &SweepPlanner::predicted, this,
          [this](const std::shared_ptr<const SweepContent>& content,
                 const std::shared_ptr<const RunPredictions>& predictions) {
            const bool same = content_ == content || (content_ && shown_ && content->sweep == shown_ &&
                                                      content_->entries.size() == predictions->size());
            if (!same)
              return;
            predictions_ = predictions;
            refresh_view();
          });
  connect(&planner_, &SweepPlanner::refused, this, &SweepPage::show_no_plan);
}

void SweepPage::follow_workbench() {
  RunDatabase& database = workbench_.run_database();
  connect(&database, &RunDatabase::runs_changed, this, &SweepPage::take_rows);
  connect(&database, &RunDatabase::read_only_changed, this, &SweepPage::allow_actions);
  connect(&workbench_, &Workbench::sweep_proposed, this, &SweepPage::propose);
  JobQueue& job_queue = workbench_.job_queue();
  connect(&job_queue, &JobQueue::job_added, this, &SweepPage::watch);
  connect(&job_queue, &JobQueue::job_changed, this, [this](Job* job) {
    if (job == starting_ && job->state() == Job::State::failed)
      show_error(job->error()); // the window shows it as well
    if (job->over())
      read_again(); // a sweep that was stopped has taken its waiting runs back
    show_header();
    allow_actions();
  });
  for (Job* job : job_queue.jobs())
    watch(job);
}

/// Shows a job's sweep as soon as it is stored. If the user then chooses another one, that stays.
void SweepPage::watch(Job* job) {
  if (job->kind() != Job::Kind::sweep && job->kind() != Job::Kind::demo)
    return;
  connect(job, &Job::sweep_began, this, [this, job] {
    if (job == starting_)
      starting_.clear();
    show_sweep(*job->sweep());
  });
  connect(job, &Job::progressed, this, &SweepPage::show_header);
}

void SweepPage::take_rows(const store::ListChanges& changes) {
  const auto of_unknown_sweep = [this](const store::RunRow& row) {
    return row.sweep &&
           std::none_of(known_.begin(), known_.end(), [&](const KnownSweep& sweep) { return sweep.id == *row.sweep; });
  };
  bool read = changes.all || !changes.removed.empty();
  bool concerns = read;
  for (const store::RunRow& row : changes.rows) {
    const bool own = row.sweep && row.sweep == shown_;
    concerns = concerns || own;
    // A run that trains tells nothing new about the sweep; one that comes, moves or ends does.
    read = read || of_unknown_sweep(row) ||
           (own && (row.outcome.status != telemetry::RunStatus::running || row.outcome.steps == 0));
    if (!telemetry::is_open(row.outcome.status))
      planner_.forget_times();
  }
  if (read)
    read_again();
  if (concerns && shown_ && isVisible())
    refresh_view();
}

/// Only what is seen is read; the rest when the page is shown.
void SweepPage::read_again() {
  unread_ = !isVisible();
  if (!unread_)
    reader_.read(shown_, goal_);
}

void SweepPage::show_sweep(std::optional<std::int64_t> sweep) {
  const bool other = sweep != shown_ || !content_;
  shown_ = sweep;
  if (other) {
    content_.reset();
    predictions_.reset();
    answer_.reset();
    extension_ = {};
    plan_error_.clear();
    additions_ = 0;
    picture_->set_answer({}, {});
    table_->reset_order();
  }
  header_->show_sweeps(known_, shown_);
  picture_title_->setVisible(!shown_);
  choices_->setVisible(shown_.has_value());
  if (shown_) {
    planning_ = false;
    read_again();
  } else {
    vary_->show_plan(plan_);
    how_->show_plan(plan_);
    request_plan();
  }
  refresh();
}

void SweepPage::take_content(const std::shared_ptr<const SweepContent>& content) {
  if (content->sweep != shown_)
    return;
  const bool first = !content_ || to_json(content_->spec) != to_json(content->spec);
  const bool same_entries = content_ && content_->entries.size() == content->entries.size();
  content_ = content;
  plan_error_.clear();
  if (first) {
    extension_ = {};
    additions_ = 0;
    vary_->show_stored(content->spec);
    how_->show_stored(content->spec);
    if (const std::string& goal = content->spec.goal; !goal.empty()) {
      goal_box_->set_text(QString::fromStdString(goal));
      take_goal();
    }
  }
  if (!same_entries)
    predictions_.reset();
  refresh_view();
  if (!predictions_)
    predict_rest();
}

void SweepPage::predict_rest() {
  std::vector<std::size_t> open;
  for (std::size_t i = 0; i < view_.runs.size(); ++i)
    if (!is_over(view_.runs[i].stage))
      open.push_back(i);
  if (isVisible() && shown_ && content_ && !open.empty())
    planner_.predict(content_, open);
}

void SweepPage::take_answer(qint64 sweep, const std::shared_ptr<const SweepAnswer>& answer) {
  if (shown_ != sweep)
    return;
  answer_ = answer;
  show_banner();
}

/// The page as a whole: empty, or a sweep.
void SweepPage::refresh() {
  const bool nothing = !shown_ && !planning();
  stack_->setCurrentWidget(nothing ? static_cast<QWidget*>(empty_) : body_);
  refresh_view();
}

void SweepPage::refresh_view() {
  view_ = view_of(content_, predictions_, workbench_.run_database().runs());
  if (const auto training = view_.training(); training && now_->run() != nullptr)
    view_.runs[*training].paused = now_->run()->id() == view_.runs[*training].run && now_->run()->paused();
  if (Job* job = own_job(); job && job->kind() == Job::Kind::sweep) // a demo goes on after its sweep
    job->set_seconds_left(view_.seconds_left());
  if (!metric_chosen_ && view_.count(RunStage::finished) > 0 && !grid_of(view_, metric_).any)
    for (const Metric metric : metrics())
      if (grid_of(view_, metric).any) {
        metric_ = metric;
        break;
      }
  show_metric();
  picture_->show_sweep(view_, metric_);
  table_->show_sweep(view_, metric_);
  now_->show_sweep(isVisible() ? view_ : SweepView{});
  std::int64_t workers = 1;
  if (shown_)
    for (const store::RunRow& row : workbench_.run_database().runs())
      workers = row.sweep == shown_ ? std::max(workers, row.workers) : workers;
  how_->show_runs(view_.runs.size(), workers);
  const CellGrid& grid = picture_->grid();
  // One row of cells leaves its room to what it shows as curves.
  const bool one_row = !grid.flows && grid.rows.values.size() <= 1 && grid.panels.size() <= 1;
  const bool charted = one_row && charts_->show_sweep(view_);
  charts_card_->setVisible(charted);
  picture_card_->setMaximumHeight(one_row ? Theme::lines(charted ? beside_charts_lines : one_row_lines)
                                          : QWIDGETSIZE_MAX);
  const bool larger = larger_is_better(metric_);
  legend_->show_range(grid.any ? metric_text(metric_, larger ? grid.least : grid.most) : QString(),
                      grid.any ? metric_text(metric_, larger ? grid.most : grid.least) : QString());
  QStringList caption;
  if (grid.flows)
    caption << tr("A cell is one combination of values; its tooltip says which");
  else if (!grid.columns.field.empty())
    caption << tr("%1 →").arg(field_name(grid.columns.field));
  if (!grid.rows.field.empty())
    caption << tr("%1 ↓").arg(field_name(grid.rows.field));
  if (content_ && content_->spec.repeats > 1)
    caption << tr("a bar is one repeat");
  if (shown_)
    caption << tr("green frame: the answer; thin frame: no clear difference");
  caption_->setText(caption.join(QStringLiteral("; ")));
  show_banner();
  show_header();
  allow_actions();
}

void SweepPage::show_metric() {
  const QSignalBlocker quiet(metric_box_);
  metric_box_->setCurrentIndex(static_cast<int>(metrics().indexOf(metric_)));
}

void SweepPage::show_banner() {
  if (!shown_) {
    banner_->show_none(plan_error_.isEmpty() ? prediction_text(view_) : plan_error_);
    return;
  }
  if (!plan_error_.isEmpty())
    return banner_->show_none(plan_error_);
  if (!answer_)
    return banner_->show_none(tr("Reading the results…"));
  const compare::Answer& answer = answer_->answer;
  if (answer.headline.empty()) {
    banner_->show_none(QString::fromStdString(answer.text));
  } else {
    AnswerBanner::Answer shown = banner_answer(answer);
    if (view_.open())
      for (QString* text : {&shown.headline, &shown.text})
        *text = tr("So far: %1").arg(*text);
    banner_->show_answer(shown);
  }
  picture_->set_answer(answer.runs, answer_->ties);
}

void SweepPage::show_no_plan(const QString& why) {
  plan_error_ = why;
  show_error(why);
  show_banner();
  allow_actions();
}

void SweepPage::show_error(const QString& error) {
  if (!vary_->show_error(error))
    how_->show_error(error);
}

void SweepPage::showEvent(QShowEvent* event) {
  Page::showEvent(event);
  if (unread_)
    read_again();
  if (shown_)
    refresh_view();
  else
    request_plan();
  if (shown_ && !predictions_)
    predict_rest();
}

void SweepPage::hideEvent(QHideEvent* event) {
  Page::hideEvent(event);
  now_->show_sweep({}); // reads the run that trains
}

} // namespace batchscope::ui

#include "moc_sweep_page.cpp"
