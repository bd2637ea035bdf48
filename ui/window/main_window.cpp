#include "ui/window/main_window.h"

#include <utility>

#include <QActionGroup>
#include <QApplication>
#include <QFileInfo>
#include <QHBoxLayout>
#include <QMenuBar>
#include <QScreen>
#include <QStackedWidget>
#include <QToolButton>
#include <QUndoGroup>
#include <QUndoStack>

#include "ui/widgets/command_palette.h"
#include "ui/widgets/key_sheet.h"
#include "ui/widgets/widgets.h"
#include "ui/window/answer_strip.h"
#include "ui/window/rail.h"
#include "ui/window/status_line.h"
#include "ui/window/work_strip.h"

namespace batchscope::ui {

namespace {

constexpr int keep_ms = 3000; // interval of checking for changes

QString file_of(const std::filesystem::path& path) {
  return QString::fromStdString(path.string());
}

} // namespace

MainWindow::MainWindow(Theme& theme, Workbench& workbench, Settings settings, QList<Page*> pages)
    : theme_(theme), workbench_(workbench), settings_(std::move(settings)), pages_(std::move(pages)),
      undo_(new QUndoGroup(this)), places_(new QActionGroup(this)), modes_(new QActionGroup(this)),
      care_(new DatabaseCare(workbench.run_database().database(), this)) {
  setObjectName(QStringLiteral("main_window"));
  show_title();
  setWindowIcon(QIcon(QStringLiteral(":/batchscope/icons/batchscope.svg")));
  make_body();
  make_places();
  make_menus();
  palette_ = new CommandPalette(theme_, this);
  keys_ = new KeySheet(this);
  watch_workbench();
  restore();
  keep_timer_.setInterval(keep_ms);
  connect(&keep_timer_, &QTimer::timeout, this, &MainWindow::keep);
  connect(qApp, &QGuiApplication::commitDataRequest, this, &MainWindow::keep_now);
}

MainWindow::~MainWindow() = default;

void MainWindow::make_body() {
  auto* body = new QWidget(this);
  rail_ = new Rail(body);
  auto* over_pages = new QWidget(body);
  stack_ = new QStackedWidget(over_pages);
  banner_ = new Banner(theme_, over_pages);
  for (Page* each : pages_)
    stack_->addWidget(each);
  auto* columns = new QHBoxLayout(body);
  columns->setContentsMargins(0, 0, 0, 0);
  columns->setSpacing(0);
  auto* rows = new QVBoxLayout;
  rows->setSpacing(0);
  auto* place = new QVBoxLayout(over_pages);
  place->setContentsMargins(0, 0, 0, 0);
  place->addWidget(stack_);
  rows->addWidget(over_pages, 1);
  rows->addWidget(new AnswerStrip(workbench_, body));
  rows->addWidget(new WorkStrip(workbench_, body));
  columns->addWidget(rail_);
  columns->addLayout(rows, 1);
  setCentralWidget(body);
  auto* line = new StatusLine(workbench_, this);
  connect(line, &StatusLine::not_storing, this, &MainWindow::show_not_storing);
  setStatusBar(line);
}

void MainWindow::make_places() {
  int number = 0;
  for (const Page* each : std::as_const(pages_)) {
    auto* place = new QAction(theme_.icon(each->icon()), each->title(), places_);
    place->setCheckable(true);
    place->setData(each->key());
    ++number;
    place->setShortcuts(
        {QKeySequence(QStringLiteral("Ctrl+%1").arg(number)), QKeySequence(QStringLiteral("Alt+%1").arg(number))});
    place->setToolTip(tr("Show %1 (%2)").arg(each->title(), place->shortcut().toString(QKeySequence::NativeText)));
    connect(place, &QAction::triggered, this, [this, key = each->key()] {
      banner_->dismiss_note(); // it was about the page that the user leaves
      show_page(key);
    });
    rail_->add(*place);
  }
}

QWidget* MainWindow::make_corner() {
  const QString database = file_of(workbench_.run_database().database());
  auto* corner = new QToolButton(menuBar());
  corner->setObjectName(QStringLiteral("corner"));
  corner->setProperty("kind", QStringLiteral("quiet"));
  corner->setText(tr("%1 · Ctrl+K for any command").arg(QFileInfo(database).fileName()));
  corner->setToolTip(database);
  corner->setAccessibleName(tr("Commands; database %1").arg(database));
  corner->setFocusPolicy(Qt::TabFocus);
  connect(corner, &QToolButton::clicked, this, &MainWindow::open_palette);
  return corner;
}

void MainWindow::watch_workbench() {
  connect(&workbench_, &Workbench::page_wanted, this, &MainWindow::show_page);
  connect(&workbench_, &Workbench::next_page, this, [this](const QString& before, const QString& page) {
    if (shown_page() == before)
      show_page(page);
  });
  connect(&workbench_, &Workbench::import_wanted, this, [this] { choose_import(false); });
  connect(&workbench_, &Workbench::problem, this, &MainWindow::show_problem);
  connect(&workbench_, &Workbench::note, this, [this](const QString& text) { say(text, {}); });
  connect(&workbench_.run_database(), &RunDatabase::problem, this,
          [this](const QString& text) { show_database_problem(text, false); });
  connect(&workbench_.run_database(), &RunDatabase::damaged, this,
          [this](const QString& text) { show_database_problem(text, true); });
  for (Page* each : std::as_const(pages_)) {
    QUndoStack* done = each->undo_stack(); // pages may share a stack
    if (done == nullptr)
      continue;
    undo_->addStack(done);
    // A note about a change and how to undo it is valid until the next change.
    connect(done, &QUndoStack::indexChanged, banner_, &Banner::dismiss_note, Qt::UniqueConnection);
  }
  connect(&workbench_.run_database(), &RunDatabase::read_only_changed, this, &MainWindow::show_title);
  connect(banner_, &Banner::action_chosen, this, [this] {
    if (on_banner_)
      on_banner_();
  });
  connect(care_, &DatabaseCare::idle_now, this, &MainWindow::close_when_idle);
  connect(&workbench_.job_queue(), &JobQueue::idle_now, this, &MainWindow::close_when_idle, Qt::QueuedConnection);
  connect(&workbench_.run_database(), &RunDatabase::exports_changed, this, &MainWindow::close_when_idle,
          Qt::QueuedConnection);
}

/// Shows the database's name, and whether it is read-only.
void MainWindow::show_title() {
  const QString name = QFileInfo(file_of(workbench_.run_database().database())).fileName();
  const bool read_only = !workbench_.run_database().read_only().isEmpty();
  setWindowTitle((read_only ? tr("%1 (read-only) – BatchScope") : tr("%1 – BatchScope")).arg(name));
}

/// A full disk, for example. What was measured waits in memory, and is stored as soon as that is possible.
void MainWindow::show_not_storing(const QString& why) {
  const QString text = tr("Not saved yet, tried again every few seconds: %1").arg(why);
  if (!why.isEmpty()) {
    run_database_problem_ = false;
    banner_->show_warning(text);
    not_storing_ = text;
  } else if (const QString said = std::exchange(not_storing_, {}); !said.isEmpty() && banner_->text() == said) {
    banner_->dismiss(); // unless it says something else by now
  }
}

void MainWindow::show_problem(const QString& text) {
  if (text.isEmpty())
    return;
  if (const Page* shown = page(shown_page()); shown != nullptr && shown->shows_problem(text))
    return;
  run_database_problem_ = false;
  banner_->show_problem(text);
}

Page* MainWindow::page(const QString& key) const {
  for (Page* each : pages_) {
    if (each->key() == key)
      return each;
  }
  return nullptr;
}

void MainWindow::show_page(const QString& key) {
  Page* wanted = page(key);
  if (wanted == nullptr)
    return;
  stack_->setCurrentWidget(wanted);
  undo_->setActiveStack(wanted->undo_stack());
  places_->actions().at(pages_.indexOf(wanted))->setChecked(true);
  if (const QString text = banner_->text(); !text.isEmpty() && wanted->shows_problem(text))
    banner_->dismiss();
  fill_run_menu();
  // Restores the focus to where it was on that page.
  if (QWidget* inside = wanted->focusWidget(); inside != nullptr && inside->isVisible())
    inside->setFocus();
  else
    wanted->setFocus();
}

QString MainWindow::shown_page() const {
  const auto* shown = qobject_cast<const Page*>(stack_->currentWidget());
  return shown ? shown->key() : QString();
}

QList<QAction*> MainWindow::all_actions() const {
  QList<QAction*> actions;
  if (const Page* shown = page(shown_page()))
    actions += shown->page_actions();
  for (const Page* each : pages_) {
    if (each->key() != shown_page())
      actions += each->page_actions();
  }
  return actions + places_->actions() + commands_ + modes_->actions();
}

void MainWindow::showEvent(QShowEvent* event) {
  keep_timer_.start();
  QMainWindow::showEvent(event);
}

void MainWindow::place_by_default() {
  const QRect room = screen()->availableGeometry();
  const QSize size(qMin(Theme::lines(84), room.width() * 9 / 10), qMin(Theme::lines(53), room.height() * 9 / 10));
  setWindowState(windowState() & ~(Qt::WindowMaximized | Qt::WindowFullScreen));
  resize(size);
  move(room.center() - QPoint(size.width() / 2, size.height() / 2));
}

} // namespace batchscope::ui

#include "moc_main_window.cpp"
