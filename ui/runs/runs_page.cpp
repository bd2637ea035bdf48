#include "ui/runs/runs_page.h"

#include <algorithm>

#include <QAction>
#include <QHBoxLayout>
#include <QLineEdit>
#include <QMenu>
#include <QStackedWidget>
#include <QUndoStack>

#include "core/store/run_reader.h"
#include "ui/output/output_view.h"
#include "ui/runs/run_actions.h"
#include "ui/runs/run_commands.h"
#include "ui/runs/run_details.h"
#include "ui/runs/run_filter.h"
#include "ui/runs/run_table.h"
#include "ui/runs/run_table_model.h"
#include "ui/runs/start_doors.h"
#include "ui/widgets/commands.h"
#include "ui/widgets/format.h"
#include "ui/widgets/widgets.h"
#include "ui/workbench/workbench.h"

namespace batchscope::ui {

namespace {

constexpr int margin = 12;
constexpr int gap = 10;

/// Content of the page: the table or a replacement.
enum Place { loading_place, unreadable_place, empty_place, waiting_place, no_match_place, table_place };

/// Whether a job makes runs now or later.
bool run_comes(const JobQueue& job_queue) {
  return std::any_of(job_queue.jobs().begin(), job_queue.jobs().end(), [](const Job* job) {
    const bool makes_runs =
        job->kind() == Job::Kind::train || job->kind() == Job::Kind::sweep || job->kind() == Job::Kind::demo;
    return makes_runs && !job->over();
  });
}

QPushButton* menu_button(const QString& text, QMenu* menu) {
  QPushButton* button = plain_button(text);
  button->setMenu(menu);
  return button;
}

QLabel* centred(const QString& text) {
  QLabel* label = dimmed_label(text);
  label->setAlignment(Qt::AlignCenter);
  return label;
}

} // namespace

RunsPage::RunsPage(Workbench& workbench, QWidget* parent)
    : Page(parent), workbench_(workbench), runs_(new RunTableModel(workbench.theme(), this)),
      shown_(new RunFilter(*runs_, this)), table_(new RunTable(workbench.theme(), *shown_, this)),
      actions_(new RunActions(workbench, undo_, *table_, *runs_, *this)),
      details_(new RunDetails(workbench.run_database(), workbench.theme(), this)) {
  make_filter_action();
  auto* layout = new QVBoxLayout(this);
  layout->setContentsMargins(margin, margin, margin, margin);
  layout->setSpacing(gap);
  layout->addWidget(make_header());
  layout->addWidget(make_places(), 1);
  layout->addWidget(details_);

  connect(runs_, &RunTableModel::renamed, this, &RunsPage::rename);
  connect(runs_, &RunTableModel::annotated, this, &RunsPage::annotate);
  connect(table_, &RunTable::selection_changed, this, &RunsPage::show_details);
  connect(details_, &RunDetails::appeared, table_, [this] { table_->scrollTo(table_->currentIndex()); });
  connect(details_, &RunDetails::problem, &workbench_, &Workbench::problem);
  follow_workbench();
  show_runs();
  show_plotted();
}

QWidget* RunsPage::make_header() {
  auto* header = new QWidget(this);
  auto* row = new QHBoxLayout(header);
  row->setContentsMargins(0, 0, 0, 0);
  row->setSpacing(gap);
  count_ = new Pill;
  filter_ = new QLineEdit;
  filter_->setObjectName(QStringLiteral("filter"));
  filter_->setPlaceholderText(tr("Filter: words, or batch >= 64 and accuracy > 97%"));
  filter_->setAccessibleName(tr("Filter"));
  filter_->setClearButtonEnabled(true);
  filter_->setMinimumWidth(160);
  filter_->setMaximumWidth(460);
  QStringList fields;
  for (const std::string& field : store::list_filter_fields())
    fields.append(QString::fromStdString(field));
  filter_->setToolTip(tr("Words to search for, or comparisons joined by \"and\" and \"or\". Fields: %1; short names: "
                         "%2. Values may have a unit: accuracy > 97%, peak < 90MB, time < 2min (%3)")
                          .arg(fields.join(QStringLiteral(", ")),
                               QString::fromStdString(store::list_filter_short_names()),
                               find_action_->shortcut().toString()));
  filter_error_ = new QLabel(this);
  // Over the table, outside the layout: nothing moves while the user types a filter.
  filter_error_->setProperty("kind", QStringLiteral("problem"));
  filter_error_->setMargin(Theme::lines(0.4));
  filter_error_->setWordWrap(true);
  filter_error_->setObjectName(QStringLiteral("filter-error"));
  filter_error_->hide();
  auto* train_again = plain_button({});
  bind(train_again, actions_->train_again());
  auto* open = filled_button({});
  bind(open, actions_->open());

  // The same height with and without the tools.
  header->setMinimumHeight(filter_->sizeHint().height());
  tools_ = new QWidget(header);
  auto* tools = new QHBoxLayout(tools_);
  tools->setContentsMargins(0, 0, 0, 0);
  tools->setSpacing(gap);
  tools->addWidget(count_);
  tools->addWidget(filter_, 1);
  tools->addStretch();
  tools->addWidget(menu_button(tr("Columns"), table_->columns_menu()));
  tools->addWidget(menu_button(tr("Export"), actions_->export_menu()));
  tools->addWidget(train_again);
  tools->addWidget(open);
  row->addWidget(page_title(tr("Runs"), header));
  row->addWidget(tools_, 1);
  row->addStretch();
  connect(filter_, &QLineEdit::textChanged, this, &RunsPage::show_filter);
  // Moves the focus from the filter to the table.
  connect(filter_, &QLineEdit::returnPressed, this, [this] {
    if (shown_->rowCount() == 0)
      return;
    if (!table_->current_run())
      table_->selectRow(0);
    table_->setFocus();
  });
  return header;
}

void RunsPage::make_filter_action() {
  find_action_ = make_command(this, tr("Filter runs"), tr("Filter the table of runs by words or comparisons"),
                              QKeySequence::Find, workbench_.theme().icon(QStringLiteral("search")));
  connect(find_action_, &QAction::triggered, this, [this] {
    Q_EMIT workbench_.page_wanted(key());
    filter_->setFocus();
    filter_->selectAll();
  });
}

QWidget* RunsPage::make_places() {
  places_ = new QStackedWidget(this);
  places_->insertWidget(loading_place, centred(tr("Reading the database…")));
  places_->insertWidget(unreadable_place, make_unreadable());
  places_->insertWidget(empty_place, new StartDoors(workbench_, this));
  places_->insertWidget(waiting_place, new EmptyState(tr("The first run starts soon"),
                                                      tr("Runs appear here after the batch size search."), {}, this));
  auto* no_match =
      new EmptyState(tr("No run matches the filter"), tr("The filter hides all runs."), tr("Clear filter"), this);
  connect(no_match, &EmptyState::action_chosen, filter_, [this] {
    filter_->clear();
    filter_->setFocus();
  });
  places_->insertWidget(no_match_place, no_match);
  auto* card = new QFrame(this);
  card->setProperty("kind", QStringLiteral("card"));
  auto* inside = new QVBoxLayout(card);
  inside->setContentsMargins(1, 4, 1, 4);
  inside->addWidget(table_);
  places_->insertWidget(table_place, card);
  return places_;
}

/// Shown until the database has been read once; RunDatabase keeps retrying.
QWidget* RunsPage::make_unreadable() {
  auto* place = new QWidget;
  why_unreadable_ = centred({});
  why_unreadable_->setObjectName(QStringLiteral("why-unreadable"));
  why_unreadable_->setTextFormat(Qt::PlainText);
  why_unreadable_->setWordWrap(true);
  auto* layout = new QVBoxLayout(place);
  layout->setSpacing(Theme::lines(0.75));
  layout->addStretch(2);
  layout->addWidget(page_title(tr("The database cannot be read")), 0, Qt::AlignHCenter);
  layout->addWidget(why_unreadable_);
  layout->addStretch(3);
  return place;
}

void RunsPage::follow_workbench() {
  RunDatabase& run_database = workbench_.run_database();
  connect(&run_database, &RunDatabase::runs_changed, this, &RunsPage::show_changes);
  for (const auto signal : {&RunDatabase::problem, &RunDatabase::damaged})
    connect(&run_database, signal, this, [this](const QString& text) {
      why_unreadable_->setText(text);
      // A rejected change must not be displayed as done.
      show_runs();
    });
  connect(&workbench_, &Workbench::opened_changed, this, &RunsPage::show_plotted);
  connect(&workbench_, &Workbench::selection_wanted, this, [this](const QList<qint64>& runs) {
    wanted_ = runs;
    select_wanted();
  });
  connect(&workbench_.job_queue(), &JobQueue::job_added, this, &RunsPage::show_place);
  connect(&workbench_.job_queue(), &JobQueue::job_changed, this, &RunsPage::show_place);
  for (const auto change : {&QAbstractItemModel::rowsInserted, &QAbstractItemModel::rowsRemoved})
    connect(shown_, change, this, &RunsPage::show_place);
  connect(shown_, &QAbstractItemModel::modelReset, this, &RunsPage::show_place);
}

void RunsPage::show_changes(const store::ListChanges& changes) {
  constexpr std::size_t max_one_by_one = 200; // more are inserted together
  if (changes.all || changes.rows.size() + changes.removed.size() > max_one_by_one)
    return show_runs();
  table_->change_rows([&] { runs_->change_runs(changes.rows, changes.removed); });
  ask_for_lengths(changes.rows);
  actions_->update();
  show_details();
  show_place();
  select_wanted();
}

void RunsPage::show_runs() {
  const auto& runs = workbench_.run_database().runs();
  table_->change_rows([&] { runs_->set_runs(runs); });
  ask_for_lengths(runs);
  actions_->update();
  show_details();
  show_place();
  select_wanted();
}

/// Shows the details of the selected run, if exactly one is selected.
void RunsPage::show_details() {
  const auto selected = table_->selected_runs();
  const int row = selected.size() == 1 ? runs_->row_of(selected.front()) : -1;
  details_->show_run(row < 0 ? nullptr : &runs_->run(row));
}

/// A filter that hides them is removed.
void RunsPage::select_wanted() {
  const bool all_there =
      std::all_of(wanted_.begin(), wanted_.end(), [this](qint64 run) { return runs_->row_of(run) >= 0; });
  if (wanted_.isEmpty() || !all_there)
    return;
  if (table_->select_runs(wanted_) < wanted_.size()) {
    filter_->clear();
    table_->select_runs(wanted_);
  }
  wanted_.clear();
}

void RunsPage::ask_for_lengths(const std::vector<store::RunRow>& runs) {
  for (const store::RunRow& run : runs) {
    if (run.outcome.status != telemetry::RunStatus::running)
      continue;
    // An open run knows how edits have changed its length.
    const OpenRun* open = workbench_.find_opened(run.id);
    if (const auto expected = open != nullptr ? open->expected_steps() : std::nullopt) {
      runs_->set_expected_steps(run.id, *expected);
      continue;
    }
    if (asked_.contains(run.id))
      continue;
    asked_.insert(run.id);
    workbench_.run_database().describe(run.id, this, [this](const StoredRun& stored, const QString& error) {
      if (error.isEmpty() && stored.start && stored.start->expected_steps)
        runs_->set_expected_steps(stored.row.id, *stored.start->expected_steps);
    });
  }
}

void RunsPage::show_plotted() {
  QList<qint64> ids;
  for (const OpenRun* run : workbench_.opened())
    ids.append(run->id());
  runs_->set_plotted(ids);
}

void RunsPage::show_filter() {
  table_->filter_rows(filter_->text());
  const QString error = shown_->error();
  mark_wrong(*filter_, !error.isEmpty());
  filter_error_->setText(error);
  filter_error_->setVisible(!error.isEmpty());
  place_filter_error();
  show_place();
}

/// Below the filter box, as wide as the text if there is room.
void RunsPage::place_filter_error() {
  const QPoint at = filter_->mapTo(this, QPoint(0, filter_->height() + gap / 2));
  const int natural = filter_error_->fontMetrics().horizontalAdvance(filter_error_->text()) + Theme::lines(1.2);
  const int width = std::min(natural, std::max(1, this->width() - at.x() - margin));
  filter_error_->setGeometry(at.x(), at.y(), width, filter_error_->heightForWidth(width));
  filter_error_->raise();
}

void RunsPage::resizeEvent(QResizeEvent* event) {
  Page::resizeEvent(event);
  place_filter_error();
}

void RunsPage::show_place() {
  const int all = runs_->rowCount();
  const int shown = shown_->rowCount();
  count_->show_text(shown_->filtering() ? tr("%1 of %2").arg(format_count(shown), format_count(all))
                                        : format_count(all),
                    Pill::Tone::accent);
  count_->setAccessibleName(tr("%1 of %2 runs shown").arg(shown).arg(all));
  tools_->setVisible(all > 0);
  if (shown > 0)
    places_->setCurrentIndex(table_place);
  else if (all > 0)
    places_->setCurrentIndex(no_match_place);
  else if (!workbench_.run_database().loaded())
    places_->setCurrentIndex(why_unreadable_->text().isEmpty() ? loading_place : unreadable_place);
  else
    places_->setCurrentIndex(run_comes(workbench_.job_queue()) ? waiting_place : empty_place);
  setFocusProxy(shown > 0 ? table_ : places_->currentWidget());
}

void RunsPage::rename(qint64 run, const QString& before, const QString& name) {
  undo_.push(new RenameRun(workbench_.run_database(), run, before, name));
}

void RunsPage::annotate(qint64 run, const QString& before, const QString& note) {
  undo_.push(new AnnotateRun(workbench_.run_database(), run, before, note));
}

QList<QAction*> RunsPage::page_actions() const {
  return QList<QAction*>{find_action_} + actions_->all();
}

QList<KeyGroup> RunsPage::key_groups() const {
  return {{tr("Program's output"), OutputView::key_help()}};
}

QJsonObject RunsPage::state() const {
  QJsonObject state = table_->state();
  state["filter"] = filter_->text();
  return state;
}

void RunsPage::restore(const QJsonObject& state) {
  table_->restore(state);
  filter_->setText(state["filter"].toString());
}

} // namespace batchscope::ui

#include "moc_runs_page.cpp"
