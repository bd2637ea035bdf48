#include "ui/find/find_page.h"

#include <memory>
#include <utility>

#include <QAction>
#include <QApplication>
#include <QHBoxLayout>
#include <QJsonObject>
#include <QScrollArea>
#include <QStackedWidget>

#include "core/run/spec_keys.h"
#include "core/sweep/size_sweep.h"
#include "ui/find/answer_card.h"
#include "ui/find/find_header.h"
#include "ui/find/find_setup.h"
#include "ui/find/goal_card.h"
#include "ui/find/memory_card.h"
#include "ui/find/probe_card.h"
#include "ui/find/search_list.h"
#include "ui/find/search_plots.h"
#include "ui/texts/spec_texts.h"
#include "ui/widgets/commands.h"
#include "ui/widgets/format.h"
#include "ui/workbench/known_prediction.h"

namespace batchscope::ui {

namespace {

constexpr double side_width = 27; // in lines of text; the probes have a scroll bar if there are many

} // namespace

FindPage::FindPage(Workbench& workbench, QWidget* parent)
    : Page(parent), workbench_(workbench), predictor_(workbench.job_queue().data()),
      goal_reader_(workbench.run_database().database()) {
  make_actions();
  empty_ = new EmptyState(tr("Which batch size?"),
                          tr("A search makes a few training steps at several batch sizes and restores the weights. It "
                             "finds the largest that fits in memory, a safe "
                             "one that leaves memory free, and the smallest within 5 % of the best throughput."),
                          tr("Find the batch size"), this);
  connect(empty_, &EmptyState::action_chosen, this, &FindPage::find);
  stack_ = new QStackedWidget(this);
  stack_->addWidget(empty_);
  stack_->addWidget(make_body());
  auto* layout = new QVBoxLayout(this);
  layout->setContentsMargins(12, 12, 12, 12);
  layout->setSpacing(10);
  header_ = new FindHeader({.find = find_action_, .cancel = cancel_action_, .log = log_action_, .setup = setup_action_},
                           this);
  setup_ = new FindSetup(this); // the last that gets the keyboard: its fields are not what the page is opened for
  setup_->hide();
  connect(header_, &FindHeader::strategy_chosen, setup_, &FindSetup::set_strategy);
  layout->addWidget(header_);
  layout->addWidget(setup_);
  layout->addWidget(stack_, 1);
  follow_workbench();
  refresh();
}

void FindPage::make_actions() {
  find_action_ = make_command(this, tr("Find the batch size"), tr("Run the search"), Qt::Key_F5);
  connect(find_action_, &QAction::triggered, this, &FindPage::find);
  cancel_action_ =
      make_command(this, tr("Stop the search"), tr("Stop after the current probe"), Qt::CTRL | Qt::Key_Period);
  connect(cancel_action_, &QAction::triggered, this, [this] {
    if (shown_.job)
      shown_.job->cancel();
  });
  log_action_ = make_command(this, tr("Batch size on a log scale"),
                             tr("Use a logarithmic axis for a wide range of sizes"), Qt::CTRL | Qt::Key_L);
  log_action_->setCheckable(true);
  connect(log_action_, &QAction::toggled, this, [this](bool log) { plots_->set_log(log); });
  setup_action_ = make_command(this, tr("Change search settings"), tr("Model, data, device and memory budget"),
                               Qt::CTRL | Qt::Key_E);
  setup_action_->setCheckable(true);
  connect(setup_action_, &QAction::toggled, this, [this] {
    show_setup();
    request_prediction();
  });
  // A program's fields are always seen, and the rest of it is on another page.
  connect(setup_action_, &QAction::triggered, this, [this](bool checked) {
    if (!of_program())
      return;
    setup_action_->setChecked(!checked);
    workbench_.propose_run(setup_->spec());
  });
}

QWidget* FindPage::make_body() {
  body_ = new QWidget(this);
  auto* row = new QHBoxLayout(body_);
  row->setContentsMargins(0, 0, 0, 0);
  row->setSpacing(10);
  auto* frame = new Card({}, body_);
  plots_ = new SearchPlots(workbench_.theme(), frame);
  frame->layout()->setContentsMargins(10, 6, 10, 6);
  frame->body()->addWidget(plots_);
  row->addWidget(frame, 1);

  auto* side = new QWidget(body_);
  auto* column = new QVBoxLayout(side);
  column->setContentsMargins(0, 0, 0, 0);
  column->setSpacing(10);
  answer_ = new AnswerCard(side);
  goal_ = new GoalCard(side);
  probes_ = new ProbeCard(workbench_.theme(), side);
  memory_ = new MemoryCard(workbench_.theme(), side);
  others_ = new SearchList(tr("Other strategies"),
                           tr("Choose another strategy and search again to compare the results here."), side);
  earlier_ = new SearchList(tr("Other searches"), {}, side);
  for (QWidget* card :
       {static_cast<QWidget*>(answer_), static_cast<QWidget*>(goal_), static_cast<QWidget*>(probes_),
        static_cast<QWidget*>(memory_), static_cast<QWidget*>(others_), static_cast<QWidget*>(earlier_)})
    column->addWidget(card);
  column->addStretch(1);
  goal_->setObjectName(QStringLiteral("goal-card"));
  probes_->setObjectName(QStringLiteral("search"));
  memory_->setObjectName(QStringLiteral("memory"));
  others_->setObjectName(QStringLiteral("others"));
  earlier_->setObjectName(QStringLiteral("earlier"));
  auto* scroll = new QScrollArea(body_);
  scroll->setWidget(side);
  scroll->setWidgetResizable(true);
  scroll->setFrameShape(QFrame::NoFrame);
  scroll->setHorizontalScrollBarPolicy(Qt::ScrollBarAlwaysOff);
  scroll->setFixedWidth(Theme::lines(side_width));
  row->addWidget(scroll);

  connect(answer_, &AnswerCard::train_wanted, this, [this](qint64 batch) { workbench_.start_run(answered(batch)); });
  connect(answer_, &AnswerCard::edit_wanted, this, [this](qint64 batch) { workbench_.propose_run(answered(batch)); });
  connect(goal_, &GoalCard::training_wanted, this, &FindPage::train_sizes);
  connect(goal_, &GoalCard::comparison_wanted, &workbench_, &Workbench::compare_sweep);
  connect(&goal_reader_, &GoalReader::was_read, this,
          [this](qint64 search, const std::shared_ptr<const TrainedSizes>& sizes) {
            if (shown_.id() == search)
              goal_->show_sizes(sizes);
          });
  connect(answer_, &AnswerCard::again_wanted, this, &FindPage::find);
  connect(answer_, &AnswerCard::settings_wanted, this, &FindPage::change_settings);
  connect(probes_, &ProbeCard::chosen, this, [this](int number, qint64 batch) {
    plots_->choose(number);
    show_size(batch);
  });
  connect(probes_, &ProbeCard::chosen_none, this, [this] {
    plots_->choose(0);
    show_size(std::nullopt);
  });
  connect(plots_, &SearchPlots::chosen, probes_, &ProbeCard::choose);
  for (const SearchList* list : {others_, earlier_})
    connect(list, &SearchList::chosen, this, &FindPage::show_search);
  connect(&plots_->plots(), &LinkedPlots::problem, &workbench_, &Workbench::problem);
  connect(&plots_->plots(), &LinkedPlots::saved, this,
          [this](const QString& file) { Q_EMIT workbench_.note(tr("Saved: %1").arg(file)); });
  return body_;
}

void FindPage::follow_workbench() {
  connect(&predictor_, &MemoryPredictor::computed, this, &FindPage::show_prediction);
  connect(&predictor_, &MemoryPredictor::refused, this, [this] { setup_->show_prediction({}); });
  connect(setup_, &FindSetup::changed, this, [this] {
    show_setup();
    request_prediction();
    show_settings();
    show_header();
  });
  connect(setup_, &FindSetup::all_settings_wanted, this, [this] { workbench_.propose_run(setup_->spec()); });
  connect(&workbench_, &Workbench::run_proposed, this, [this](const run::RunSpec& spec) {
    if (!shown_ || (!spec.program && !of_program()))
      setup_->set_spec(spec);
  });
  connect(&workbench_.theme(), &Theme::changed, this, &FindPage::refresh); // line samples
  connect(&workbench_.run_database(), &RunDatabase::searches_changed, this, [this] {
    if (shown_)
      show_lists();
    else
      show_last_answer();
  });
  connect(&workbench_.run_database(), &RunDatabase::read_only_changed, this, &FindPage::refresh);
  connect(&workbench_.run_database(), &RunDatabase::runs_changed, this, &FindPage::read_sizes);
  JobQueue& job_queue = workbench_.job_queue();
  connect(&job_queue, &JobQueue::job_added, this, &FindPage::watch);
  connect(&job_queue, &JobQueue::job_changed, this, [this](Job* job) {
    if (job == shown_.job && job->state() == Job::State::cancelled && job->probes().empty())
      show_last_answer();
    else if (job == shown_.job)
      refresh();
    show_header(); // the job that it waits for may have ended
  });
  for (Job* job : job_queue.jobs())
    watch(job);
  if (!shown_)
    show_last_answer();
}

/// Shows a job's search from its first probe on; a job without a search has none. If the user then selects another
/// search, that one stays.
void FindPage::watch(Job* job) {
  const auto follow = [this, job, seen = std::make_shared<bool>(job->kind() == Job::Kind::find)] {
    if (job->probes().empty() && !job->search_result())
      return;
    if (!std::exchange(*seen, true))
      show_search({job, nullptr});
    else if (job == shown_.job)
      refresh();
  };
  if (!shown_ && job->kind() != Job::Kind::sweep && job->stores())
    setup_->set_spec(job->spec());
  connect(job, &Job::probed, this, follow);
  connect(job, &Job::timed, this, follow);
  connect(job, &Job::searched, this, follow);
  connect(job, &Job::searched, this, &FindPage::show_lists);
  connect(job, &Job::search_stored, this, &FindPage::show_lists);
  connect(job, &Job::search_stored, this, [this, job] {
    if (job == shown_.job)
      refresh();
  });
  connect(job, &Job::progressed, this, [this, job] {
    if (job == shown_.job)
      show_header();
  });
  if (job->kind() == Job::Kind::find)
    show_search({job, nullptr});
  else
    follow();
}

void FindPage::find() {
  if (searching())
    return;
  setup_->set_strategy(header_->strategy());
  const auto request = setup_->request();
  if (!request)
    return reveal_setup();
  workbench_.start_search(*request);
}

bool FindPage::searching() const {
  return shown_.job && !shown_.job->search_result() && !shown_.job->over();
}

void FindPage::show_search(const KnownSearch& search) {
  const bool other = !(search == shown_);
  shown_ = search;
  if (other) {
    error_shown_ = false;
    plots_->choose(0);
    take_settings();
    show_lists();
    read_sizes();
  }
  const bool keyboard_here = empty_->isAncestorOf(QApplication::focusWidget());
  refresh();
  if (keyboard_here)
    header_->focus_cancel();
}

void FindPage::take_settings() {
  header_->set_strategy(shown_.view().strategy);
  if (!setup_action_->isChecked() || shown_.spec().program)
    setup_->set_spec(shown_.spec());
  keep_to_program();
}

void FindPage::keep_to_program() {
  if (shown_ && shown_.spec().program != setup_->spec().program)
    setup_->set_spec(shown_.spec());
}

bool FindPage::of_program() const {
  return setup_->spec().program.has_value();
}

void FindPage::show_setup() {
  setup_->setVisible(setup_action_->isChecked() || of_program());
  header_->show_change(of_program());
}

void FindPage::reveal_setup() {
  if (!of_program())
    setup_action_->setChecked(true);
}

void FindPage::change_settings() {
  if (of_program())
    workbench_.propose_run(setup_->spec());
  else
    setup_action_->setChecked(true);
}

/// Shown instead of nothing, and instead of a search that was cancelled before its first trial.
void FindPage::show_last_answer() {
  const QList<KnownSearch> searches = known_searches(workbench_);
  shown_ = searches.isEmpty() ? KnownSearch{} : searches.last();
  if (shown_)
    header_->set_strategy(shown_.view().strategy);
  keep_to_program();
  error_shown_ = false;
  plots_->choose(0);
  show_lists();
  read_sizes();
  refresh();
}

void FindPage::show_lists() {
  const SearchRows rows = rows_beside(known_searches(workbench_), shown_);
  others_->show_rows(rows.same);
  earlier_->show_rows(rows.others);
}

/// For the shown answer, whatever is searched next; without an answer, for the next search.
void FindPage::show_settings() {
  const run::RunSpec spec = shown_ ? shown_.spec() : setup_->spec();
  QStringList settings = described(spec);
  if (spec.program) // its command is in the fields
    settings.front() = subject_of(spec);
  header_->show_settings(settings, spec.program.has_value());
}

void FindPage::show_header() {
  const bool searches = searching();
  const Job* working = workbench_.job_queue().working();
  const run::RunSpec next = setup_->spec();
  FindHeader::State state{.has_search = bool(shown_), .searching = searches};
  if (searches)
    state.activity = shown_.job->state() == Job::State::waiting && working != nullptr
                         ? tr("queued behind: %1").arg(working->title())
                         : shown_.job->activity();
  state.find_text = shown_ && run::trial_key(shown_.spec()) == run::trial_key(next) ? tr("Find again") : tr("Find");
  state.find_help = tr("Search %1").arg(described(next).join(QStringLiteral(", ")));
  header_->show_state(state);
  const QString& read_only = workbench_.run_database().read_only();
  allow(*find_action_, !searches && read_only.isEmpty(), searches ? tr("A search is running") : read_only);
  allow(*cancel_action_, searches, tr("No search is running"));
}

void FindPage::refresh() {
  show_settings();
  if (!shown_) {
    stack_->setCurrentWidget(empty_);
    show_header();
    return;
  }
  const SearchView view = shown_.view();
  if (view.state == Job::State::failed && view.probes.empty())
    show_failure(view.error);
  else
    stack_->setCurrentWidget(body_);
  plots_->show_search(view);
  answer_->show_search(view);
  const QString& read_only = workbench_.run_database().read_only();
  goal_->show_search(view, !shown_.id() ? tr("The search is not stored yet") : read_only);
  probes_->show_search(view);
  show_size(probes_->chosen_batch());
  if (view.state == Job::State::failed && !error_shown_) {
    error_shown_ = true;
    show_error(view);
  }
  show_header();
}

/// The memory of the selected size, else of the answer, else of the largest size so far.
void FindPage::show_size(std::optional<std::int64_t> batch) {
  if (!shown_)
    return;
  const SearchView view = shown_.view();
  if (!batch && view.found())
    batch = view.result->recommended ? view.result->recommended : view.result->largest;
  memory_->show_size(view, batch ? batch : largest_so_far(view));
}

/// Without a number it has not been stored, and so not been trained. Runs change all the time while one trains, so
/// nothing is read for a page that is not seen.
void FindPage::read_sizes() {
  if (!isVisible())
    return;
  if (const auto search = shown_.id())
    return goal_reader_.read(*search);
  goal_reader_.cancel();
  goal_->show_sizes(nullptr);
}

void FindPage::train_sizes(const QString& goal) {
  if (const auto search = shown_.id())
    workbench_.start_sweep(sweep::size_sweep(shown_.spec(), shown_.result(), *search, goal.toStdString(), false));
}

void FindPage::showEvent(QShowEvent* event) {
  Page::showEvent(event);
  request_prediction();
  read_sizes();
}

void FindPage::request_prediction() {
  if (of_program()) { // only its own steps show what it needs
    predictor_.cancel();
    return setup_->show_prediction({});
  }
  if (isVisible() && setup_action_->isChecked())
    predictor_.request(setup_->spec());
}

void FindPage::show_prediction(const std::shared_ptr<const run::MemoryPrediction>& prediction) {
  const QString budget = format_bytes(static_cast<double>(prediction->budget_bytes));
  if (!prediction->largest)
    return setup_->show_prediction(tr("Computed: even one example does not fit in %1.").arg(budget));
  const auto peak = static_cast<double>(prediction->at(*prediction->largest).bytes);
  setup_->show_prediction(
      tr("Computed: the largest batch size that fits is %1, with %2 of %3. A search runs it to verify "
         "this, and measures throughput.")
          .arg(format_count(*prediction->largest), format_bytes(peak), budget));
}

/// If not even one size was run, there is nothing else to show.
void FindPage::show_failure(const QString& error) {
  if (error_shown_)
    return;
  delete failure_;
  failure_ = new EmptyState(tr("The search failed"), error, {}, this);
  stack_->setCurrentIndex(stack_->addWidget(failure_));
}

void FindPage::show_error(const SearchView& failed) {
  setup_->show_error(failed.error_field, failed.error);
  reveal_setup();
}

run::RunSpec FindPage::answered(qint64 batch) const {
  run::RunSpec spec = shown_ ? shown_.spec() : setup_->spec();
  spec.batch = {run::BatchChoice::Kind::number, batch};
  return spec;
}

QList<QAction*> FindPage::page_actions() const {
  return QList<QAction*>{find_action_, cancel_action_, setup_action_, log_action_} + plots_->plots().actions_for_menu();
}

QList<KeyGroup> FindPage::key_groups() const {
  return {{tr("Plots"), LinkedPlots::key_help()}};
}

QJsonObject FindPage::state() const {
  return {{"strategy", header_->strategy()},
          {"setup", setup_->state()},
          {"setup_shown", setup_action_->isChecked()},
          {"log", log_action_->isChecked()}};
}

void FindPage::restore(const QJsonObject& state) {
  header_->set_strategy(state["strategy"].toString());
  setup_->restore(state["setup"].toObject());
  keep_to_program();
  setup_action_->setChecked(state["setup_shown"].toBool());
  log_action_->setChecked(state["log"].toBool());
}

} // namespace batchscope::ui

#include "moc_find_page.cpp"
