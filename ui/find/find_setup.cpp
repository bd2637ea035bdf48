#include "ui/find/find_setup.h"

#include <QHBoxLayout>
#include <QSignalBlocker>

#include <limits>

#include "core/base/error.h"
#include "core/base/shell_words.h"
#include "core/base/text.h"
#include "core/run/spec_fields.h"
#include "core/search/strategy.h"
#include "ui/texts/field_edit.h"
#include "ui/texts/spec_texts.h"
#include "ui/widgets/labelled_edit.h"
#include "ui/widgets/note_line.h"
#include "ui/widgets/widgets.h"

namespace batchscope::ui {

namespace {

bool uses_factor(const std::string& strategy) {
  const search::Strategy* found = search::find_strategy(strategy);
  return found != nullptr && found->uses_factor;
}

} // namespace

void FindSetup::show_prediction(const QString& text) {
  prediction_->setText(text);
  prediction_->setVisible(!text.isEmpty());
}

FindSetup::FindSetup(QWidget* parent) : QWidget(parent) {
  auto* column = new QVBoxLayout(this);
  column->setContentsMargins(0, 0, 0, 0);
  column->setSpacing(4);
  auto* row = new QHBoxLayout;
  row->setSpacing(10);
  column->addLayout(row);
  prediction_ = dimmed_label({}, this);
  prediction_->setObjectName(QStringLiteral("prediction"));
  column->addWidget(prediction_);
  command_ =
      add_option(tr("Command"), QStringLiteral("command"), tr("Your own program; change it in the New run form"));
  folder_ = add_option(tr("Folder"), QStringLiteral("folder"),
                       tr("Folder in which the program runs; change it in the New run form"));
  folder_->edit()->setPlaceholderText(tr("BatchScope's current folder"));
  for (LabelledEdit* of_program : {command_, folder_}) {
    of_program->edit()->setReadOnly(true);
    of_program->edit()->setFocusPolicy(Qt::ClickFocus); // to copy from it
  }
  row->addWidget(command_, 5);
  row->addWidget(folder_, 3);
  for (const auto& [key, stretch] : {std::pair{"model", 3},
                                     {"data", 3},
                                     {"optimizer", 1},
                                     {"device", 1},
                                     {"memory_budget", 2},
                                     {"max_batch", 1},
                                     {"margin", 1}})
    row->addWidget(add_field(key), stretch);
  start_ = add_option(tr("First size"), QStringLiteral("start"), tr("Batch size of the first probe"));
  start_->edit()->setPlaceholderText(tr("strategy default"));
  row->addWidget(start_, 1);
  factor_ = add_option(tr("Factor"), QStringLiteral("factor"),
                       tr("Factor between 0 and 1 that a size is multiplied by when it does not fit"));
  factor_->edit()->setPlaceholderText(QStringLiteral("0.9"));
  row->addWidget(factor_, 1);
  auto* all = plain_button(tr("All settings…"), this);
  all->setToolTip(tr("Open the New run form with these settings"));
  connect(all, &QPushButton::clicked, this, &FindSetup::all_settings_wanted);
  all_ = new QWidget(this);
  auto* at_fields_height = new QVBoxLayout(all_);
  at_fields_height->setContentsMargins(0, 0, 0, 0);
  at_fields_height->addWidget(dimmed_label({}, this));
  at_fields_height->addWidget(all);
  elsewhere_ = new NoteLine(*all, this); // above the fields that lead to its errors
  elsewhere_->setObjectName(QStringLiteral("elsewhere"));
  at_fields_height->addWidget(elsewhere_);
  at_fields_height->addStretch();
  at_fields_height->setSpacing(2);
  row->addWidget(all_);
  set_strategy(QString::fromStdString(strategy_));
  set_spec({});
}

LabelledEdit* FindSetup::add_field(const std::string& key) {
  auto* edit = new_field_edit(key, this);
  connect(edit->edit(), &QLineEdit::textEdited, this, &FindSetup::check);
  fields_[key] = edit;
  return edit;
}

LabelledEdit* FindSetup::add_option(const QString& name, const QString& key, const QString& help) {
  auto* edit = new LabelledEdit(name, this);
  edit->setObjectName(key);
  edit->set_help(help);
  connect(edit->edit(), &QLineEdit::textEdited, this, &FindSetup::check);
  return edit;
}

void FindSetup::set_spec(const run::RunSpec& spec) {
  spec_ = spec;
  for (const auto& [key, edit] : fields_)
    edit->set_text(QString::fromStdString(run::field_text(spec, key)));
  show_fields();
  check();
}

/// A program has a command and a folder instead of model and data.
void FindSetup::show_fields() {
  const auto show = [this](LabelledEdit* edit, const std::string& text) {
    edit->setVisible(spec_.program.has_value());
    edit->set_text(QString::fromStdString(text));
    if (!text.empty()) // it may be longer than its field
      edit->edit()->setToolTip(edit->text());
    edit->edit()->setCursorPosition(0);
  };
  show(command_, spec_.program ? shell_line(spec_.program->command) : std::string());
  show(folder_, spec_.program ? spec_.program->folder : std::string());
  all_->setVisible(!spec_.program);
  for (const auto& [key, edit] : fields_)
    edit->setVisible(!spec_.program || run::spec_field(key).for_programs);
}

run::RunSpec FindSetup::spec() const {
  run::RunSpec spec = spec_;
  for (const auto& [key, edit] : fields_) {
    try {
      run::set_field(spec, key, edit->text().toStdString());
    } catch (const Error&) {
      // Shown at the field.
    }
  }
  return spec;
}

void FindSetup::set_strategy(const QString& strategy) {
  strategy_ = strategy.toStdString();
  factor_->setVisible(uses_factor(strategy_));
}

bool FindSetup::read_spec(run::RunSpec& spec) {
  std::map<std::string, QString> errors;
  for (const auto& [key, edit] : fields_) {
    try {
      run::set_field(spec, key, edit->text().toStdString());
    } catch (const Error& error) {
      errors[key] = QString::fromUtf8(error.what());
    }
  }
  QStringList elsewhere;
  for (const auto& [key, message] : run::check_fields(spec)) {
    if (fields_.count(key) > 0)
      errors.emplace(key, QString::fromStdString(message));
    else
      elsewhere << QString::fromStdString(message);
  }
  for (const auto& [key, edit] : fields_)
    edit->set_error(errors.count(key) > 0 ? errors[key] : QString());
  elsewhere_->show_note(elsewhere.join(QStringLiteral("; ")), !elsewhere.isEmpty());
  return errors.empty() && elsewhere.isEmpty();
}

void FindSetup::read_options(FindRequest& request, bool& good) {
  const auto read = [&good](LabelledEdit* edit, auto&& take) {
    QString problem;
    try {
      if (!edit->text().isEmpty())
        take(edit->text().toStdString());
    } catch (const Error& error) {
      problem = QString::fromUtf8(error.what());
      good = false;
    }
    edit->set_error(problem);
  };
  read(start_, [&](const std::string& text) {
    request.start = parse_integer(text, "first size", 1, std::numeric_limits<std::int64_t>::max());
  });
  // A factor that the strategy does not use is not checked.
  read(factor_, [&](const std::string& text) {
    if (!uses_factor(strategy_))
      return;
    const double factor = parse_number(text, "factor");
    if (!(factor > 0 && factor < 1))
      throw input_error("factor: " + shortened(text) + " is not accepted; accepted: a number between 0 and 1");
    request.factor = factor;
  });
}

std::optional<FindRequest> FindSetup::request() {
  FindRequest request;
  request.spec = spec_;
  request.strategy = strategy_;
  bool good = read_spec(request.spec);
  read_options(request, good);
  request.margin = request.spec.margin;
  return good ? std::optional(request) : std::nullopt;
}

void FindSetup::show_error(const std::string& field, const QString& message) {
  const auto found = fields_.find(field);
  if (found != fields_.end())
    found->second->set_error(message);
}

void FindSetup::check() {
  request();
  Q_EMIT changed();
}

QJsonObject FindSetup::state() const {
  return {{"spec", QString::fromStdString(run::to_json(spec(), -1))},
          {"start", start_->text()},
          {"factor", factor_->text()}};
}

void FindSetup::restore(const QJsonObject& state) {
  try {
    set_spec(run::run_spec_from_json(state["spec"].toString().toStdString()));
  } catch (const Error&) {
    // From another version, or invalid: keeps the current values.
  }
  start_->set_text(state["start"].toString());
  factor_->set_text(state["factor"].toString());
  check();
}

} // namespace batchscope::ui

#include "moc_find_setup.cpp"
