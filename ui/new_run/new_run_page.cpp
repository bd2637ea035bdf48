#include "ui/new_run/new_run_page.h"

#include <QAbstractItemView>
#include <QAction>
#include <QBoxLayout>
#include <QClipboard>
#include <QComboBox>
#include <QFileDialog>
#include <QFileInfo>
#include <QGuiApplication>
#include <QScrollArea>

#include <utility>

#include "core/base/error.h"
#include "ui/memory/forecast_card.h"
#include "ui/new_run/command_card.h"
#include "ui/new_run/field_editor.h"
#include "ui/new_run/field_help.h"
#include "ui/new_run/form_edit.h"
#include "ui/new_run/presets.h"
#include "ui/new_run/run_outlook.h"
#include "ui/new_run/spec_file.h"
#include "ui/new_run/spec_form.h"
#include "ui/texts/spec_texts.h"
#include "ui/widgets/commands.h"
#include "ui/widgets/file_dialog.h"
#include "ui/widgets/widgets.h"
#include "ui/workbench/workbench.h"

namespace batchscope::ui {

namespace {

constexpr int margin = 12;
constexpr int gap = 10;
constexpr double presets_lines = 20;
constexpr double side_lines = 24;
constexpr int max_undone = 200;

// Data of the entries that are not presets.
const QString last_entry = QStringLiteral("last");
const QString defaults_entry = QStringLiteral("defaults");

/// Whether both specs make the same run, ignoring the name.
bool same_settings(run::RunSpec a, const run::RunSpec& b) {
  a.name = b.name;
  return run::to_json(a) == run::to_json(b);
}

QScrollArea* scrolled(QWidget* content, QWidget* parent) {
  auto* area = new QScrollArea(parent);
  area->setWidgetResizable(true);
  area->setHorizontalScrollBarPolicy(Qt::ScrollBarAlwaysOff);
  area->setFocusPolicy(Qt::NoFocus);
  area->setWidget(content);
  return area;
}

} // namespace

NewRunPage::NewRunPage(Workbench& workbench, QWidget* parent)
    : Page(parent), workbench_(workbench), form_(new SpecForm), forecaster_(workbench.engine().data()) {
  make_actions();
  auto* layout = new QVBoxLayout(this);
  layout->setContentsMargins(margin, margin, margin, margin);
  layout->setSpacing(gap);
  layout->addWidget(make_header());

  // Only the form scrolls: the help for a field stays beside it.
  auto* body = new QHBoxLayout;
  body->setSpacing(gap);
  scroll_ = scrolled(form_, this);
  body->addWidget(scroll_, 1);
  QScrollArea* side = scrolled(make_side(), this);
  side->setFixedWidth(Theme::lines(side_lines));
  body->addWidget(side);
  layout->addLayout(body, 1);
  command_ = new CommandCard(workbench_.run_database().database(), bind(plain_button({}), copy_), this);
  layout->addWidget(command_);

  auto* browse = plain_button(tr("Browse…"));
  browse->setToolTip(tr("Choose a file to train on"));
  form_->editor("data")->add_button(browse);
  connect(browse, &QPushButton::clicked, this, [this] { ask_for_data(data_kind(form_->editor("data")->text())); });
  auto* own_model = plain_button(tr("Your own…"));
  own_model->setToolTip(tr("Choose a model that torch.jit.save() wrote"));
  form_->editor("model")->add_button(own_model);
  connect(own_model, &QPushButton::clicked, this, &NewRunPage::ask_for_model);
  connect(form_, &SpecForm::changed, this, &NewRunPage::note_edit);
  connect(form_, &SpecForm::changed, this, &NewRunPage::show_form);
  connect(form_, &SpecForm::field_entered, help_, &FieldHelp::show_field);
  connect(form_, &SpecForm::field_entered, this,
          [this](const run::SpecField& field) { scroll_->ensureWidgetVisible(form_->editor(field.key), 0, gap); });
  connect(&workbench, &Workbench::run_proposed, this,
          [this](const run::RunSpec& spec) { fill_form(spec, tr("the settings of another run")); });
  connect(&workbench.run_database(), &RunDatabase::read_only_changed, this, &NewRunPage::show_read_only);
  connect(&workbench.engine(), &Engine::job_added, this, &NewRunPage::show_waiting);
  connect(&workbench.engine(), &Engine::job_changed, this, &NewRunPage::show_waiting);
  setFocusProxy(form_->editor("name"));
  help_->show_field(run::spec_fields().front());
  fill_presets();
  texts_ = form_->texts();
  undo_.setUndoLimit(max_undone);
  show_form();
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
  copy_ =
      add_action(tr("Copy as command line"), QStringLiteral("copy"), tr("Copy the equivalent batchscope-cli command"),
                 QKeySequence(Qt::CTRL | Qt::SHIFT | Qt::Key_C), &NewRunPage::copy_command);
  load_ =
      add_action(tr("Load JSON…"), QStringLiteral("open"), tr("Fill the form from a file with the settings of a run"),
                 QKeySequence::Open, &NewRunPage::ask_to_load);
  save_ = add_action(tr("Save JSON…"), QStringLiteral("export"), tr("Save the settings of this run to a file"),
                     QKeySequence::Save, &NewRunPage::ask_to_save);
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
  auto* row = new QHBoxLayout(header);
  row->setContentsMargins(0, 0, 0, 0);
  row->setSpacing(gap);
  presets_ = new QComboBox(header);
  presets_->setPlaceholderText(tr("Presets"));
  presets_->setAccessibleName(tr("Presets"));
  presets_->setSizeAdjustPolicy(QComboBox::AdjustToMinimumContentsLengthWithIcon);
  presets_->setMinimumContentsLength(12);
  presets_->setMaximumWidth(Theme::lines(presets_lines));
  presets_->view()->setTextElideMode(Qt::ElideNone);
  presets_->view()->setMinimumWidth(Theme::lines(presets_lines));
  connect(presets_, &QComboBox::activated, this, &NewRunPage::choose_preset);
  row->addWidget(page_title(tr("New run"), header));
  row->addWidget(presets_, 1);
  row->addStretch();
  row->addWidget(bind(plain_button({}, header), load_));
  row->addWidget(bind(plain_button({}, header), save_));
  row->addWidget(bind(plain_button({}, header), sweep_));
  row->addWidget(bind(plain_button({}, header), search_));
  row->addWidget(bind(filled_button({}, header), start_));
  return header;
}

QWidget* NewRunPage::make_side() {
  auto* side = new QWidget;
  auto* column = new QVBoxLayout(side);
  column->setContentsMargins(0, 0, 0, 0);
  column->setSpacing(gap);
  outlook_ = new Card(tr("Summary of this run"), side);
  outlook_text_ = new QLabel(outlook_);
  outlook_text_->setObjectName(QStringLiteral("outlook"));
  outlook_text_->setWordWrap(true);
  outlook_text_->setTextFormat(Qt::RichText);
  outlook_->body()->addWidget(outlook_text_);
  help_ = new FieldHelp(side);
  forecast_ = new ForecastCard(workbench_.theme(), side);
  connect(&forecaster_, &Forecaster::computed, this, [this](const std::shared_ptr<const run::Forecast>& forecast) {
    if (form_->spec())
      forecast_->show_forecast(*forecast, *form_->spec());
  });
  connect(&forecaster_, &Forecaster::card_computed, this, [this](const std::shared_ptr<const estimate::CardFit>& fit) {
    if (form_->spec())
      forecast_->show_fit(*fit, *form_->spec());
  });
  connect(forecast_, &ForecastCard::target_changed, this, &NewRunPage::request_forecast);
  connect(&forecaster_, &Forecaster::refused, forecast_, &ForecastCard::show_none);
  column->addWidget(outlook_);
  column->addWidget(forecast_);
  column->addWidget(help_);
  column->addStretch();
  return side;
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
  if (!preset.file)
    return;
  form_->remark("data", tr("Choose the file to train on"));
  ask_for_data(preset.file);
}

/// Undo restores the earlier content.
void NewRunPage::fill_form(const run::RunSpec& spec, const QString& from) {
  const bool discards = own_settings_;
  filling_from_ = from;
  form_->set_spec(spec);
  filling_from_.clear();
  if (discards && undo_.canUndo())
    Q_EMIT workbench_.note(tr("Form filled with: %1. %2 restores the earlier settings.")
                               .arg(from, QKeySequence(QKeySequence::Undo).toString(QKeySequence::NativeText)));
}

void NewRunPage::note_edit() {
  const QJsonObject before = std::exchange(texts_, form_->texts());
  if (before == texts_)
    return;
  start_error_.clear();
  if (taking_back_)
    return;
  const auto changed = form_->differing(before, texts_);
  FieldEditor* typed = filling_from_.isEmpty() && changed.size() == 1 ? changed.front() : nullptr;
  const QString what = typed                     ? tr("editing %1").arg(typed->label())
                       : filling_from_.isEmpty() ? tr("editing the form")
                                                 : tr("filling in %1").arg(filling_from_);
  undo_.push(new FormEdit(what, before, texts_, typed, [this](const QJsonObject& texts) {
    taking_back_ = true;
    form_->set_texts(texts);
    taking_back_ = false;
  }));
}

void NewRunPage::show_form() {
  const auto& spec = form_->spec();
  command_->show_spec(spec, form_->errors());
  for (QAction* action : {copy_, save_})
    allow(*action, spec.has_value(),
          form_->errors() == 1 ? tr("One field has an error") : tr("%1 fields have errors").arg(form_->errors()));
  int matching = -1;
  const auto& all = presets();
  for (std::size_t i = 0; spec && i < all.size(); ++i) {
    run::RunSpec like = preset_spec(all[i]);
    if (all[i].file && data_kind(QString::fromStdString(spec->data)) == all[i].file)
      like.data = spec->data;
    if (same_settings(like, *spec))
      matching = static_cast<int>(i);
  }
  presets_->setCurrentIndex(matching);
  own_settings_ =
      !spec || (matching < 0 && !same_settings(*spec, {}) && !(last_started_ && same_settings(*spec, *last_started_)));
  show_waiting();
  request_forecast();
}

/// Only what is seen is computed: the first forecast loads the engine.
void NewRunPage::request_forecast() {
  if (!isVisible())
    return;
  if (form_->spec() && !forecast_->target().isEmpty())
    return forecaster_.request_card(*form_->spec(), forecast_->target());
  if (form_->spec())
    return forecaster_.request(*form_->spec());
  forecaster_.cancel();
  forecast_->show_none({});
}

void NewRunPage::showEvent(QShowEvent* event) {
  Page::showEvent(event);
  request_forecast();
}

void NewRunPage::show_read_only() {
  const QString& why = workbench_.run_database().read_only();
  for (QAction* action : {start_, search_})
    allow(*action, why.isEmpty(), why);
}

void NewRunPage::show_waiting() {
  QStringList sentences;
  if (const auto& spec = form_->spec()) {
    sentences = run_outlook(*spec);
    if (const Job* job = workbench_.engine().working())
      sentences.prepend(tr("Queued until \"%1\" has ended.").arg(job->title()));
  } else {
    sentences.append(form_->errors() == 1
                         ? tr("One field has an error. Correct it to continue.")
                         : tr("%1 fields have errors. Correct them to continue.").arg(form_->errors()));
  }
  QString text;
  for (const QString& sentence : sentences)
    text += QStringLiteral("<p style=\"margin: 0 0 5px 0\">%1</p>").arg(sentence.toHtmlEscaped());
  if (text != outlook_text_->text())
    outlook_text_->setText(text);
}

void NewRunPage::start() {
  if (!form_->spec())
    return form_->go_to_error();
  last_started_ = form_->spec();
  fill_presets();
  show_form();
  watch(workbench_.start_run(*last_started_));
}

void NewRunPage::search() {
  if (!form_->spec())
    return form_->go_to_error();
  FindRequest request;
  request.spec = *form_->spec();
  request.margin = request.spec.margin;
  watch(workbench_.start_search(request));
}

void NewRunPage::sweep() {
  if (!form_->spec())
    return form_->go_to_error();
  workbench_.propose_sweep(*form_->spec());
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
  const std::string& field = job.error_field();
  // The workbench reports it anyway. If the form was changed meanwhile, its fields are not to blame.
  if (field.empty() || !form_->spec() || !same_settings(*form_->spec(), job.spec()))
    return;
  form_->remark(field, job.error());
  start_error_ = job.error();
  Q_EMIT workbench_.page_wanted(key());
  form_->editor(field)->setFocus();
}

void NewRunPage::copy_command() {
  if (command_->command().isEmpty())
    return;
  QGuiApplication::clipboard()->setText(command_->command());
  Q_EMIT workbench_.note(tr("Command line copied to the clipboard."));
}

void NewRunPage::reset() {
  fill_form({}, tr("the defaults"));
}

void NewRunPage::ask_for_data(std::optional<DataKind> kind) {
  QFileDialog* dialog = open_file_dialog(this, tr("Choose the file to train on"), name_filters(kind));
  dialog->setFileMode(QFileDialog::ExistingFile);
  connect(dialog, &QFileDialog::fileSelected, this, [this, kind](const QString& file) {
    const DataText data = data_text(file, kind);
    form_->editor("data")->set_text("data", data.text);
    if (!data.problem.isEmpty())
      form_->remark("data", data.problem);
    form_->editor("data")->setFocus();
  });
  dialog->open();
}

void NewRunPage::ask_for_model() {
  QFileDialog* dialog = open_file_dialog(this, tr("Choose a model that torch.jit.save() wrote"),
                                         {tr("TorchScript files (*.pt *.pth *.ts)"), tr("All files (*)")});
  dialog->setFileMode(QFileDialog::ExistingFile);
  connect(dialog, &QFileDialog::fileSelected, this, [this](const QString& file) {
    form_->editor("model")->set_text("model", QStringLiteral("torchscript:%1").arg(file));
    if (file.contains(u','))
      form_->remark("model", tr("File names with a comma are not supported here"));
    form_->editor("model")->setFocus();
  });
  dialog->open();
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
  if (!form_->spec())
    return;
  const QString name = file_name_of(QString::fromStdString(form_->spec()->name), QStringLiteral("run"));
  QFileDialog* dialog = save_file_dialog(this, tr("Save the settings of this run"), {tr("Run settings (*.json)")},
                                         name + QStringLiteral(".json"));
  connect(dialog, &QFileDialog::fileSelected, this, &NewRunPage::save);
  dialog->open();
}

void NewRunPage::save(const QString& file) {
  if (!form_->spec())
    return;
  try {
    write_spec_file(*form_->spec(), file);
    Q_EMIT workbench_.note(tr("Saved to %1.").arg(file));
  } catch (const Error& error) {
    Q_EMIT workbench_.problem(QString::fromUtf8(error.what()));
  }
}

QJsonObject NewRunPage::state() const {
  QJsonObject state = form_->state();
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
  form_->restore(state);
  undo_.clear();
  show_form();
}

} // namespace batchscope::ui

#include "moc_new_run_page.cpp"
