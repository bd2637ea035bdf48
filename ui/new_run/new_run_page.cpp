#include "ui/new_run/new_run_page.h"

#include <QAbstractItemView>
#include <QAction>
#include <QBoxLayout>
#include <QButtonGroup>
#include <QClipboard>
#include <QComboBox>
#include <QFileDialog>
#include <QFileInfo>
#include <QGuiApplication>
#include <QResizeEvent>
#include <QStackedWidget>

#include <utility>

#include "core/base/error.h"
#include "core/data/file_text.h"
#include "ui/new_run/command_card.h"
#include "ui/new_run/field_editor.h"
#include "ui/new_run/form_edit.h"
#include "ui/new_run/network_panel.h"
#include "ui/new_run/presets.h"
#include "ui/new_run/program_panel.h"
#include "ui/new_run/spec_file.h"
#include "ui/texts/spec_texts.h"
#include "ui/widgets/commands.h"
#include "ui/widgets/file_dialog.h"
#include "ui/widgets/widgets.h"
#include "ui/workbench/known_start.h"

namespace batchscope::ui {

namespace {

constexpr int margin = 12;
constexpr int gap = 10;
constexpr double presets_lines = 17;
constexpr int max_undone = 200;

// Data of the entries that are not presets.
const QString last_entry = QStringLiteral("last");
const QString defaults_entry = QStringLiteral("defaults");

/// Whether both specs make the same run, ignoring the name.
bool same_settings(run::RunSpec a, const run::RunSpec& b) {
  a.name = b.name;
  return run::to_json(a) == run::to_json(b);
}

} // namespace

NewRunPage::NewRunPage(Workbench& workbench, QWidget* parent) : Page(parent), workbench_(workbench) {
  make_actions();
  auto* layout = new QVBoxLayout(this);
  layout->setContentsMargins(margin, margin, margin, margin);
  layout->setSpacing(gap);
  QWidget* panels = make_panels();
  header_ = make_header();
  layout->addWidget(header_);
  layout->addWidget(panels, 1);
  command_ = new CommandCard(workbench_.run_database().database(), bind(plain_button({}), copy_), this);
  layout->addWidget(command_);

  connect(&workbench, &Workbench::run_proposed, this,
          [this](const run::RunSpec& spec) { fill_form(spec, tr("the settings of another run")); });
  connect(&workbench.run_database(), &RunDatabase::read_only_changed, this, &NewRunPage::show_read_only);
  connect(&workbench.job_queue(), &JobQueue::job_added, this, &NewRunPage::show_waiting);
  connect(&workbench.job_queue(), &JobQueue::job_changed, this, &NewRunPage::show_waiting);
  connect(&workbench, &Workbench::opened_changed, this, &NewRunPage::show_plannable);
  connect(program_, &ProgramPanel::testing_changed, this, &NewRunPage::show_test);
  fill_presets();
  undo_.setUndoLimit(max_undone);
  choose(FormKind::network);
}

QWidget* NewRunPage::make_panels() {
  panels_ = new QStackedWidget(this);
  network_ = new NetworkPanel(workbench_, panels_);
  program_ = new ProgramPanel(workbench_, panels_);
  for (RunPanel* each : {static_cast<RunPanel*>(network_), static_cast<RunPanel*>(program_)}) {
    panels_->addWidget(each);
    each->form().editor("schedule")->add_button(bind(plain_button({}), plan_));
    connect_form(each->form());
  }
  return panels_;
}

void NewRunPage::connect_form(SpecForm& form) {
  texts_[static_cast<int>(form.kind())] = form.texts();
  connect(&form, &SpecForm::changed, this, [this, &form] { note_edit(form); });
  connect(&form, &SpecForm::changed, this, &NewRunPage::show_form);
}

RunPanel& NewRunPage::panel() const {
  if (panels_->currentWidget() == program_)
    return *program_;
  return *network_;
}

SpecForm& NewRunPage::form() const {
  return panel().form();
}

FormKind NewRunPage::chosen() const {
  return form().kind();
}

void NewRunPage::choose(FormKind kind) {
  choice_->button(static_cast<int>(kind))->setChecked(true);
  const bool network = kind == FormKind::network;
  panels_->setCurrentWidget(network ? static_cast<QWidget*>(network_) : program_);
  setFocusProxy(form().editor(network ? "name" : "command"));
  show_header();
  show_form();
  show_test();
}

void NewRunPage::make_actions() {
  start_ = add_action(tr("Start"), QStringLiteral("play"), tr("Start this run"),
                      QKeySequence(Qt::CTRL | Qt::Key_Return), &NewRunPage::start);
  search_ = add_action(tr("Find the batch size first"), QStringLiteral("find"),
                       tr("Search for the largest, the safe and the recommended batch size for these settings"),
                       QKeySequence(Qt::CTRL | Qt::SHIFT | Qt::Key_Return), &NewRunPage::search);
  sweep_ = add_action(tr("Sweep these settings"), QStringLiteral("sweep"),
                      tr("Plan a sweep of runs that vary some of these settings"), QKeySequence(Qt::CTRL | Qt::Key_T),
                      &NewRunPage::sweep);
  sweep_->setIconText(tr("Sweep…")); // of its button
  plan_ = add_action(tr("Plan the schedule"), QStringLiteral("schedule"),
                     tr("Draw the batch sizes of the whole training before it starts, and change them by dragging"),
                     QKeySequence(Qt::CTRL | Qt::Key_D), &NewRunPage::plan);
  plan_->setIconText(tr("Plan…")); // of its buttons
  copy_ =
      add_action(tr("Copy as command line"), QStringLiteral("copy"), tr("Copy the equivalent batchscope-cli command"),
                 QKeySequence(Qt::CTRL | Qt::SHIFT | Qt::Key_C), &NewRunPage::copy_command);
  load_ =
      add_action(tr("Load JSON…"), QStringLiteral("open"), tr("Fill the form from a file with the settings of a run"),
                 QKeySequence::Open, &NewRunPage::ask_to_load);
  save_ = add_action(tr("Save JSON…"), QStringLiteral("export"), tr("Save the settings of this run to a file"),
                     QKeySequence::Save, &NewRunPage::ask_to_save);
  test_ = add_action(tr("Test this program"), QStringLiteral("check"),
                     tr("Runs the program for a few steps and says what works on it; stores nothing"),
                     QKeySequence(Qt::CTRL | Qt::Key_B), &NewRunPage::test);
  for (const auto kind : {FormKind::network, FormKind::program}) {
    QAction* other = make_command(
        this, kind == FormKind::network ? tr("New run of a built-in network") : tr("New run of your own program"),
        tr("Shows its form"), {}, workbench_.theme().icon(QStringLiteral("new-run")));
    connect(other, &QAction::triggered, this, [this, kind] { choose(kind); });
    actions_.append(other);
  }
  add_action(tr("Reset to defaults"), QStringLiteral("undo"), tr("Set all fields to their defaults"), {},
             &NewRunPage::reset);
}

QAction* NewRunPage::add_action(const QString& text, const QString& icon, const QString& help,
                                const QKeySequence& shortcut, void (NewRunPage::*slot)()) {
  QAction* action = make_command(this, text, help, shortcut, workbench_.theme().icon(icon));
  connect(action, &QAction::triggered, this, slot);
  actions_.append(action);
  return action;
}

QWidget* NewRunPage::make_header() {
  auto* header = new QWidget(this);
  header->setSizePolicy(QSizePolicy::Ignored, QSizePolicy::Preferred); // show_header() sets its least width
  auto* row = new QHBoxLayout(header);
  row->setContentsMargins(0, 0, 0, 0);
  row->setSpacing(gap);
  presets_ = new QComboBox(header);
  presets_->setPlaceholderText(tr("Presets"));
  presets_->setAccessibleName(tr("Presets"));
  presets_->setSizeAdjustPolicy(QComboBox::AdjustToMinimumContentsLengthWithIcon);
  presets_->setMinimumContentsLength(7);
  presets_->setMaximumWidth(Theme::lines(presets_lines));
  presets_->view()->setTextElideMode(Qt::ElideNone);
  presets_->view()->setMinimumWidth(Theme::lines(presets_lines));
  connect(presets_, &QComboBox::activated, this, &NewRunPage::choose_preset);
  row->addWidget(page_title(tr("New run"), header));
  row->addWidget(make_choice());
  row->addWidget(presets_, 1);
  row->addStretch();
  row->addWidget(load_button_ = bind(plain_button({}, header), load_));
  row->addWidget(save_button_ = bind(plain_button({}, header), save_));
  row->addWidget(test_button_ = bind(plain_button({}, header), test_));
  row->addWidget(bind(plain_button({}, header), sweep_));
  row->addWidget(bind(plain_button({}, header), search_));
  row->addWidget(bind(filled_button({}, header), start_));
  return header;
}

QWidget* NewRunPage::make_choice() {
  auto* both = new QWidget(this);
  auto* row = new QHBoxLayout(both);
  row->setContentsMargins(0, 0, 0, 0);
  row->setSpacing(gap / 2);
  choice_ = new QButtonGroup(this);
  const auto add = [&](FormKind kind, const QString& text, const QString& tip) {
    auto* button = plain_button(text, both);
    button->setCheckable(true);
    button->setToolTip(tip);
    choice_->addButton(button, static_cast<int>(kind));
    row->addWidget(button);
    connect(button, &QPushButton::clicked, this, [this, kind] { choose(kind); });
  };
  add(FormKind::network, tr("Built-in network"), tr("Train a network of BatchScope on your data"));
  add(FormKind::program, tr("Your own program"), tr("Search, watch and steer a training program of your own"));
  return both;
}

/// A narrow window has no room for all buttons; those for files are in the menu, too. They do not keep a window from
/// becoming narrow.
void NewRunPage::show_header() {
  const bool network = chosen() == FormKind::network;
  presets_->setVisible(network);
  test_button_->setVisible(!network);
  const int files = load_button_->sizeHint().width() + save_button_->sizeHint().width() + 2 * gap;
  const int least = header_->layout()->minimumSize().width() - (load_button_->isHidden() ? 0 : files);
  header_->setMinimumWidth(least);
  const bool wide = width() - 2 * margin >= least + files;
  load_button_->setVisible(wide);
  save_button_->setVisible(wide);
}

void NewRunPage::showEvent(QShowEvent* event) {
  Page::showEvent(event);
  show_plannable(); // runs may have said more of themselves meanwhile
}

void NewRunPage::resizeEvent(QResizeEvent* event) {
  Page::resizeEvent(event);
  show_header();
}

void NewRunPage::fill_presets() {
  const QSignalBlocker quiet(presets_);
  presets_->clear();
  for (const Preset& preset : presets()) {
    presets_->addItem(preset_name(preset));
    presets_->setItemData(presets_->count() - 1, preset_help(preset), Qt::ToolTipRole);
  }
  presets_->insertSeparator(presets_->count());
  if (last_started_)
    presets_->addItem(tr("Last started run"), last_entry);
  presets_->addItem(tr("Defaults"), defaults_entry);
  presets_->setMaxVisibleItems(presets_->count()); // the separator counts as one entry; the default maximum is ten
}

void NewRunPage::choose_preset(int index) {
  const QString entry = presets_->itemData(index).toString();
  if (entry == last_entry)
    return fill_form(*last_started_, presets_->itemText(index));
  if (entry == defaults_entry)
    return reset();
  const Preset& preset = presets()[static_cast<std::size_t>(index)];
  fill_form(preset_spec(preset), preset_name(preset));
  if (preset.file.empty())
    return;
  network_->form().remark("data", tr("Choose the file to train on"));
  network_->ask_for_data(preset.file);
}

/// Undo restores the earlier content.
void NewRunPage::fill_form(const run::RunSpec& spec, const QString& from) {
  const bool discards = own_settings_;
  choose(kind_of(spec));
  filling_from_ = from;
  form().set_spec(spec);
  filling_from_.clear();
  if (discards && undo_.canUndo())
    Q_EMIT workbench_.note(tr("Form filled with: %1. %2 restores the earlier settings.")
                               .arg(from, QKeySequence(QKeySequence::Undo).toString(QKeySequence::NativeText)));
}

void NewRunPage::note_edit(SpecForm& form) {
  QJsonObject& texts = texts_[static_cast<int>(form.kind())];
  const QJsonObject before = std::exchange(texts, form.texts());
  if (before == texts)
    return;
  start_error_.clear();
  if (taking_back_)
    return;
  const auto changed = form.differing(before, texts);
  FieldEditor* typed = filling_from_.isEmpty() && changed.size() == 1 ? changed.front() : nullptr;
  const QString what = typed                     ? tr("editing %1").arg(typed->label())
                       : filling_from_.isEmpty() ? tr("editing the form")
                                                 : tr("filling in %1").arg(filling_from_);
  undo_.push(new FormEdit(what, before, texts, typed, [this, &form](const QJsonObject& earlier) {
    taking_back_ = true;
    choose(form.kind());
    form.set_texts(earlier);
    taking_back_ = false;
  }));
}

void NewRunPage::show_form() {
  const auto& spec = form().spec();
  if (form().begun())
    command_->show_spec(spec, form().errors());
  else
    command_->show_hint(tr("Enter the command that starts your program."));
  const QString why_not =
      form().errors() == 1 ? tr("One field has an error") : tr("%1 fields have errors").arg(form().errors());
  for (QAction* action : {copy_, save_})
    allow(*action, spec.has_value(), why_not);
  show_preset();
  show_waiting();
  show_plannable();
  panel().show_form();
}

/// The preset that the form shows, if it is one.
void NewRunPage::show_preset() {
  const auto& spec = form().spec();
  int matching = -1;
  const auto& all = presets();
  for (std::size_t i = 0; spec && i < all.size(); ++i) {
    run::RunSpec like = preset_spec(all[i]);
    if (!all[i].file.empty() && data::file_kind(spec->data) == all[i].file)
      like.data = spec->data;
    if (same_settings(like, *spec))
      matching = static_cast<int>(i);
  }
  presets_->setCurrentIndex(matching);
  own_settings_ = !spec || (matching < 0 && !same_settings(*spec, empty_spec(chosen())) &&
                            !(last_started_ && same_settings(*spec, *last_started_)));
}

void NewRunPage::show_read_only() {
  const QString& why = workbench_.run_database().read_only();
  for (QAction* action : {start_, search_})
    allow(*action, why.isEmpty(), why);
}

void NewRunPage::show_waiting() {
  const Job* job = workbench_.job_queue().working();
  panel().show_waiting(job ? job->title() : QString());
}

void NewRunPage::show_test() {
  test_->setIconText(program_->testing() ? tr("Stop test") : tr("Test"));
  allow(*test_, chosen() == FormKind::program, tr("Built-in networks need no test"));
  show_plannable();
}

void NewRunPage::show_plannable() {
  const auto& spec = form().spec();
  const bool known = !spec || !spec->program || known_start(workbench_, *spec);
  allow(*plan_, known,
        tr("Test the program first: to plan, its batch size must be changeable and its number of examples known"));
}

void NewRunPage::test() {
  program_->test();
}

void NewRunPage::start() {
  if (!form().spec())
    return form().go_to_error();
  last_started_ = form().spec();
  fill_presets();
  show_form();
  watch(workbench_.start_run(*last_started_));
}

void NewRunPage::search() {
  if (!form().spec())
    return form().go_to_error();
  FindRequest request;
  request.spec = *form().spec();
  request.margin = request.spec.margin;
  watch(workbench_.start_search(request));
}

void NewRunPage::plan() {
  if (!form().spec())
    return form().go_to_error();
  workbench_.propose_plan(*form().spec());
}

void NewRunPage::sweep() {
  if (!form().spec())
    return form().go_to_error();
  workbench_.propose_sweep(*form().spec());
}

void NewRunPage::watch(Job* job) {
  connect(job, &Job::state_changed, this, [this, job] {
    if (job->state() == Job::State::failed)
      show_failure(*job);
  });
  // From its first step on, the page that shows the run reports its errors.
  connect(job, &Job::run_started, this, [this, job] { disconnect(job, nullptr, this, nullptr); });
}

void NewRunPage::show_failure(const Job& job) {
  const std::string field = form_key(job.error_field(), job.error().toStdString());
  // The workbench reports it anyway. If the form was changed meanwhile, its fields are not to blame.
  if (field.empty() || !form().spec() || !same_settings(*form().spec(), job.spec()))
    return;
  form().remark(field, job.error());
  start_error_ = job.error();
  Q_EMIT workbench_.page_wanted(key());
  form().editor(field)->setFocus();
}

bool NewRunPage::shows_problem(const QString& problem) const {
  return (!start_error_.isEmpty() && problem.contains(start_error_)) || panel().shows_problem(problem);
}

void NewRunPage::copy_command() {
  if (command_->command().isEmpty())
    return;
  QGuiApplication::clipboard()->setText(command_->command());
  Q_EMIT workbench_.note(tr("Command line copied to the clipboard."));
}

void NewRunPage::reset() {
  fill_form(empty_spec(chosen()), tr("the defaults"));
}

void NewRunPage::ask_to_load() {
  QFileDialog* dialog =
      open_file_dialog(this, tr("Load the settings of a run"), {tr("Run settings (*.json)"), tr("All files (*)")});
  dialog->setFileMode(QFileDialog::ExistingFile);
  connect(dialog, &QFileDialog::fileSelected, this, &NewRunPage::load);
  dialog->open();
}

void NewRunPage::load(const QString& file) {
  try {
    fill_form(read_spec_file(file), QFileInfo(file).fileName());
  } catch (const Error& error) {
    Q_EMIT workbench_.problem(QString::fromUtf8(error.what()));
  }
}

void NewRunPage::ask_to_save() {
  if (!form().spec())
    return;
  const QString name = file_name_of(QString::fromStdString(form().spec()->name), QStringLiteral("run"));
  QFileDialog* dialog = save_file_dialog(this, tr("Save the settings of this run"), {tr("Run settings (*.json)")},
                                         name + QStringLiteral(".json"));
  connect(dialog, &QFileDialog::fileSelected, this, &NewRunPage::save);
  dialog->open();
}

void NewRunPage::save(const QString& file) {
  if (!form().spec())
    return;
  try {
    write_spec_file(*form().spec(), file);
    Q_EMIT workbench_.note(tr("Saved to %1.").arg(file));
  } catch (const Error& error) {
    Q_EMIT workbench_.problem(QString::fromUtf8(error.what()));
  }
}

QJsonObject NewRunPage::state() const {
  QJsonObject state = network_->form().state();
  state["program"] = program_->form().state();
  state["shown"] = chosen() == FormKind::program ? QStringLiteral("program") : QStringLiteral("network");
  if (last_started_)
    state["last_started"] = QString::fromStdString(run::to_json(*last_started_, -1));
  return state;
}

void NewRunPage::restore(const QJsonObject& state) {
  if (const QJsonValue last = state["last_started"]; last.isString()) {
    try {
      last_started_ = run::run_spec_from_json(last.toString().toStdString());
    } catch (const Error&) {
      last_started_.reset(); // from another version, or invalid: this preset is not offered
    }
    fill_presets();
  }
  network_->form().restore(state);
  program_->form().restore(state["program"].toObject());
  undo_.clear();
  choose(state["shown"].toString() == QLatin1String("program") ? FormKind::program : FormKind::network);
}

} // namespace batchscope::ui

#include "moc_new_run_page.cpp"
