#include "ui/compare/compare_page.h"

#include <QAction>
#include <QClipboard>
#include <QComboBox>
#include <QGuiApplication>
#include <QHBoxLayout>
#include <QLineEdit>
#include <QMenu>
#include <QSplitter>
#include <QStackedWidget>

#include <algorithm>
#include <map>

#include "core/base/error.h"
#include "ui/compare/compare_header.h"
#include "ui/compare/compare_table.h"
#include "ui/compare/compare_table_model.h"
#include "ui/compare/curves_card.h"
#include "ui/compare/parallel_plot.h"
#include "ui/compare/scatter_plot.h"
#include "ui/findings/findings_button.h"
#include "ui/plot/linked_plots.h"
#include "ui/texts/answer_texts.h"
#include "ui/widgets/answer_banner.h"
#include "ui/widgets/commands.h"
#include "ui/widgets/format.h"
#include "ui/widgets/widgets.h"
#include "ui/workbench/goal_box.h"
#include "ui/workbench/run_export.h"

namespace batchscope::ui {

namespace {

constexpr int margin = 12;
constexpr int gap = 10;
constexpr std::size_t most_judged = 300; ///< runs that the rules of advice judge
constexpr int soon_ms = 300;             ///< changes of the database within this time are taken together

enum Place { waiting_place, empty_place, no_match_place, comparison_place };

QLabel* centred(const QString& text, QWidget* parent) {
  QLabel* label = dimmed_label(text, parent);
  label->setAlignment(Qt::AlignCenter);
  return label;
}

} // namespace

ComparePage::ComparePage(Workbench& workbench, QWidget* parent)
    : Page(parent), workbench_(workbench), comparer_(workbench.run_database().database()),
      adviser_(workbench.run_database().database()), view_(this) {
  make_actions();
  header_ = new CompareHeader(view_, report_, this);
  places_ = new QStackedWidget(this);
  waiting_ = centred(tr("Reading the runs…"), places_);
  places_->insertWidget(waiting_place, waiting_);
  empty_ = new EmptyState(tr("Nothing to compare yet"),
                          tr("Two or more runs are compared here: which batch size or setting is best, why, and how "
                             "sure that is. The demo makes some in 1 to 4 minutes."),
                          tr("Run the demo"), places_);
  places_->insertWidget(empty_place, empty_);
  auto* no_match =
      new EmptyState(tr("No run matches the filter"), tr("The filter hides all runs."), tr("Clear filter"), places_);
  places_->insertWidget(no_match_place, no_match);
  places_->insertWidget(comparison_place, make_body());
  auto* layout = new QVBoxLayout(this);
  layout->setContentsMargins(margin, margin, margin, margin);
  layout->setSpacing(gap);
  layout->addWidget(header_);
  layout->addWidget(places_, 1);
  header_->set_columns_menu(table_->columns_menu());
  for (QAction* action : export_->actions())
    header_->export_menu()->addAction(action);
  connect(empty_, &EmptyState::action_chosen, &workbench_, [this] { workbench_.start_demo(); });
  connect(no_match, &EmptyState::action_chosen, this, [this] { header_->filter().clear(); });
  soon_.setSingleShot(true);
  soon_.setInterval(soon_ms);
  connect(&soon_, &QTimer::timeout, this, &ComparePage::compare_now);
  follow();
  show_place();
}

ComparePage::~ComparePage() {
  // The parts show view_, and they would else be deleted after it.
  delete places_;
  delete header_;
}

void ComparePage::make_actions() {
  const auto add = [this](const QString& text, const QString& tip, const QKeySequence& keys, const QString& icon) {
    QAction* action = make_command(this, text, tip, keys, workbench_.theme().icon(icon));
    actions_.append(action);
    return action;
  };
  export_ = new RunExport(workbench_, *this, [this] { return exported_runs(); });
  report_ = add(tr("HTML report"), tr("Write the compared runs, the answer and the plots to one HTML file"),
                QKeySequence(Qt::CTRL | Qt::SHIFT | Qt::Key_H), QStringLiteral("export"));
  connect(report_, &QAction::triggered, this, [this] { export_->ask(QStringLiteral("html")); });
  baseline_ = add(tr("Use as baseline"), tr("Compare all other runs with the current one, or stop that"),
                  QKeySequence(Qt::Key_B), QStringLiteral("check"));
  connect(baseline_, &QAction::triggered, this, [this] { table_->toggle_baseline(); });
  QAction* open = add(tr("Plot marked runs on Live"), tr("Open the marked runs on the Live page"),
                      QKeySequence(Qt::CTRL | Qt::Key_L), QStringLiteral("live"));
  connect(open, &QAction::triggered, this, &ComparePage::open_marked);
  QAction* copy =
      add(tr("Copy table"), tr("Copy the selected rows, or all, for a spreadsheet"), {}, QStringLiteral("copy"));
  connect(copy, &QAction::triggered, this, [this] { QGuiApplication::clipboard()->setText(table_->selected_text()); });
  QAction* clear = add(tr("Remove marks"), tr("Clear all marks (Esc)"), {}, QStringLiteral("close"));
  connect(clear, &QAction::triggered, &view_, &ComparisonView::clear_marks);
}

QWidget* ComparePage::make_body() {
  auto* body = new QWidget(places_);
  answer_ = new AnswerBanner(body);
  rows_ = new QSplitter(Qt::Vertical, body);
  rows_->setChildrenCollapsible(false);
  rows_->setHandleWidth(gap);
  auto* axes = new Card({}, rows_);
  parallel_ = new ParallelPlot(workbench_.theme(), view_, axes);
  axes->body()->addWidget(parallel_);
  plots_ = new QSplitter(Qt::Horizontal, rows_);
  plots_->setChildrenCollapsible(false);
  plots_->setHandleWidth(gap);
  plots_->addWidget(make_scatter());
  curves_ = new CurvesCard(workbench_.theme(), view_, workbench_.run_database().database(), plots_);
  plots_->addWidget(curves_);
  auto* below = new QFrame(rows_);
  below->setProperty("kind", QStringLiteral("card"));
  auto* inside = new QVBoxLayout(below);
  inside->setContentsMargins(1, 4, 1, 4);
  table_ = new CompareTable(workbench_.theme(), view_, below);
  table_->addActions(actions_);
  table_->setMinimumHeight(Theme::lines(4.5));
  inside->addWidget(table_);
  for (QWidget* row : {static_cast<QWidget*>(axes), static_cast<QWidget*>(plots_), static_cast<QWidget*>(below)})
    rows_->addWidget(row);
  rows_->setSizes({Theme::lines(17), Theme::lines(18), Theme::lines(13)}); // relative to each other
  plots_->setSizes({1000, 1000});
  auto* layout = new QVBoxLayout(body);
  layout->setContentsMargins(0, 0, 0, 0);
  layout->setSpacing(gap);
  layout->addWidget(answer_);
  layout->addWidget(rows_, 1);
  return body;
}

QWidget* ComparePage::make_scatter() {
  auto* card = new Card({}, plots_);
  scatter_ = new ScatterPlot(workbench_.theme(), view_, card);
  scatter_x_ = new QComboBox(card);
  scatter_y_ = new QComboBox(card);
  scatter_x_->setAccessibleName(tr("Horizontal axis of the scatter plot"));
  scatter_y_->setAccessibleName(tr("Vertical axis of the scatter plot"));
  scatter_x_->setObjectName(QStringLiteral("scatter-x"));
  scatter_y_->setObjectName(QStringLiteral("scatter-y"));
  auto* row = new QHBoxLayout;
  row->addWidget(scatter_y_);
  row->addWidget(dimmed_label(tr("against"), card));
  row->addWidget(scatter_x_);
  row->addStretch();
  card->body()->addLayout(row);
  card->body()->addWidget(scatter_, 1);
  for (auto [box, wanted] : {std::pair(scatter_x_, &wanted_x_), std::pair(scatter_y_, &wanted_y_)})
    connect(box, &QComboBox::activated, this, [this, box = box, wanted = wanted] {
      *wanted = box->currentData().toString();
      scatter_->set_fields(scatter_x_->currentData().toString(), scatter_y_->currentData().toString());
    });
  return card;
}

void ComparePage::follow() {
  RunDatabase& database = workbench_.run_database();
  connect(&database, &RunDatabase::runs_changed, this, &ComparePage::request);
  connect(&workbench_, &Workbench::comparison_wanted, this, [this](const QList<qint64>& runs) {
    set_scope({.kind = runs.isEmpty() ? RunScope::Kind::all : RunScope::Kind::chosen,
               .sweep = 0,
               .runs = {runs.begin(), runs.end()}});
  });
  connect(&workbench_, &Workbench::sweep_comparison_wanted, this,
          [this](qint64 sweep) { set_scope({.kind = RunScope::Kind::sweep, .sweep = sweep, .runs = {}}); });
  connect(&comparer_, &Comparer::compared, this, &ComparePage::take);
  connect(&comparer_, &Comparer::answered, this, &ComparePage::show_answer);
  connect(&comparer_, &Comparer::problem, this, [this](const QString& text) {
    compared();
    Q_EMIT workbench_.problem(text);
  });
  connect(&comparer_, &Comparer::reading, this, [this](int read, int all) {
    waiting_->setText(tr("Reading the runs: %1 of %2").arg(format_count(read), format_count(all)));
  });
  connect(&adviser_, &Adviser::judged, &header_->findings(), &FindingsButton::show_findings);
  connect(&header_->findings(), &FindingsButton::run_chosen, this, [this](qint64 run) {
    workbench_.open({run});
    Q_EMIT workbench_.page_wanted(QStringLiteral("advice"));
  });
  connect(header_, &CompareHeader::scope_changed, this, [this] { set_scope(header_->scope()); });
  connect(header_, &CompareHeader::filter_changed, this, &ComparePage::filter);
  connect(header_, &CompareHeader::goal_changed, this, &ComparePage::ask_for_answer);
  connect(header_, &CompareHeader::grouping_changed, this, [this] { view_.set_grouping(header_->grouping()); });
  connect(header_->views_menu(), &QMenu::aboutToShow, this, &ComparePage::fill_views_menu);
  connect(table_, &CompareTable::chosen, this, &ComparePage::open_marked);
  connect(table_, &CompareTable::value_at_step_wanted, this, &ComparePage::ask_for_value);
  connect(curves_, &CurvesCard::problem, &workbench_, &Workbench::problem);
  connect(curves_, &CurvesCard::saved, &workbench_,
          [this](const QString& file) { Q_EMIT workbench_.note(tr("Saved to %1").arg(file)); });
}

void ComparePage::set_scope(const RunScope& scope) {
  scope_ = scope;
  header_->set_scope(scope);
  view_.clear_marks();
  compare_now();
}

void ComparePage::request() {
  if (!isVisible())
    stale_ = true;
  else if (comparing_)
    changed_meanwhile_ = true; // or a busy database would be read from its beginning again and again
  else if (!soon_.isActive())
    soon_.start();
}

void ComparePage::showEvent(QShowEvent* event) {
  Page::showEvent(event);
  if (std::exchange(stale_, false))
    compare_now();
}

void ComparePage::show_sweeps() {
  std::map<std::int64_t, int, std::greater<>> sweeps;
  for (const store::RunRow& row : workbench_.run_database().runs())
    if (row.sweep)
      ++sweeps[*row.sweep];
  header_->set_sweeps({sweeps.begin(), sweeps.end()});
}

void ComparePage::compare_now() {
  soon_.stop();
  show_sweeps();
  std::vector<store::RunRow> rows;
  for (const store::RunRow& row : workbench_.run_database().runs())
    if (scope_.contains(row))
      rows.push_back(row);
  comparing_ = true;
  changed_meanwhile_ = false;
  comparer_.compare(std::move(rows), values_);
}

void ComparePage::compared() {
  comparing_ = false;
  if (std::exchange(changed_meanwhile_, false))
    request();
}

void ComparePage::take(const std::shared_ptr<const Comparison>& comparison) {
  CompareFilter::Selection selection;
  try {
    selection = CompareFilter(*comparison, header_->filter().text()).apply();
    header_->show_filter_error({});
  } catch (const Error& error) { // it names a field that these runs do not have
    selection = CompareFilter(*comparison, {}).apply();
    header_->show_filter_error(QString::fromUtf8(error.what()));
  }
  selected_by_ = selection.result;
  view_.set_comparison(comparison, std::move(selection.runs));
  fill_scatter_fields();
  show_place();
  ask_for_answer();
  judge();
  compared();
}

void ComparePage::filter(const QString& text) {
  try {
    CompareFilter::Selection selection = CompareFilter(view_.comparison(), text).apply();
    header_->show_filter_error({});
    selected_by_ = selection.result;
    view_.set_visible(std::move(selection.runs));
  } catch (const Error& error) { // mostly: it is being typed
    header_->show_filter_error(QString::fromUtf8(error.what()));
    return;
  }
  show_place();
  ask_for_answer();
  judge();
}

/// The runs that are shown; of very many the first ones.
void ComparePage::judge() {
  std::vector<std::int64_t> runs;
  for (const std::size_t run : view_.visible())
    if (runs.size() < most_judged)
      runs.push_back(view_.id(run));
  adviser_.judge(std::move(runs));
}

void ComparePage::ask_for_answer() {
  if (view_.visible().empty())
    return;
  if (const auto goal = header_->goal().goal())
    comparer_.answer(view_.shared(), view_.visible(), *goal);
  else
    answer_->show_none(tr("Enter a goal: a score such as 97% or a time such as 2min."));
}

void ComparePage::show_answer(const compare::Answer& answer) {
  view_.set_answer(answer);
  if (answer.headline.empty())
    return answer_->show_none(QString::fromStdString(answer.text));
  AnswerBanner::Answer shown = banner_answer(answer);
  if (!selected_by_.isEmpty()) {
    for (QString* text : {&shown.reason, &shown.text})
      *text += tr(" The filter selects runs by their %1: means are those of the selected ones.").arg(selected_by_);
    shown.certainty = AnswerBanner::Certainty::unknown;
  }
  answer_->show_answer(shown);
}

void ComparePage::show_place() {
  const bool loaded = workbench_.run_database().loaded();
  const auto all = std::ssize(view_.comparison().runs());
  places_->setCurrentIndex(all == 0                  ? (loaded ? empty_place : waiting_place)
                           : view_.visible().empty() ? no_match_place
                                                     : comparison_place);
  for (QAction* action : actions_)
    allow(*action, all > 0, tr("There are no runs to compare"));
  for (QAction* action : export_->actions())
    allow(*action, all > 0, tr("There are no runs to compare"));
  setFocusProxy(all > 0 ? static_cast<QWidget*>(table_) : places_->currentWidget());
}

/// Fields that have different values, if any has; by default the score against peak memory.
void ComparePage::fill_scatter_fields() {
  const auto& fields = view_.comparison().fields;
  const bool any = std::any_of(fields.begin(), fields.end(), [](const auto& field) { return field.different > 1; });
  const auto fill = [&](QComboBox& box, const QString& wanted, const QStringList& preferred) {
    box.clear();
    for (const CompareField& field : fields)
      if (field.different > (any ? 1 : 0) && field.key != QLatin1String("result:reason"))
        box.addItem(field.title, field.key);
    int index = box.findData(wanted);
    for (const QString& key : preferred)
      if (index < 0)
        index = box.findData(key);
    box.setCurrentIndex(std::max(0, index));
  };
  fill(*scatter_x_, wanted_x_, {QStringLiteral("result:peak_bytes"), QStringLiteral("batch")});
  fill(*scatter_y_, wanted_y_,
       {QStringLiteral("result:validation_accuracy"), QStringLiteral("result:validation_loss"),
        QStringLiteral("result:examples_per_second"), QStringLiteral("loss:last")});
  scatter_->set_fields(scatter_x_->currentData().toString(), scatter_y_->currentData().toString());
}

void ComparePage::open_marked() {
  QList<qint64> ids;
  if (const auto current = table_->current_run())
    ids.append(view_.id(*current));
  for (const std::size_t run : view_.marking() ? view_.marked_runs() : std::vector<std::size_t>{})
    if (!ids.contains(view_.id(run)))
      ids.append(view_.id(run));
  if (ids.isEmpty())
    return;
  workbench_.open(ids);
  Q_EMIT workbench_.page_wanted(QStringLiteral("live"));
}

/// The marked runs, or all that the filter leaves.
std::vector<std::int64_t> ComparePage::exported_runs() const {
  std::vector<std::int64_t> ids;
  for (const std::size_t run : view_.marking() ? view_.marked_runs() : view_.visible())
    ids.push_back(view_.id(run));
  return ids;
}

QList<KeyGroup> ComparePage::key_groups() const {
  return {{tr("Parallel coordinates"), ParallelPlot::key_help()}, {tr("Plots"), LinkedPlots::key_help()}};
}

} // namespace batchscope::ui

#include "moc_compare_page.cpp"
