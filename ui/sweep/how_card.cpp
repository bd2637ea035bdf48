#include "ui/sweep/how_card.h"

#include <algorithm>

#include <QCheckBox>
#include <QHBoxLayout>
#include <QRegularExpression>
#include <QVBoxLayout>

#include "core/base/error.h"
#include "core/base/text.h"
#include "core/run/spec_fields.h"
#include "ui/texts/field_edit.h"
#include "ui/texts/spec_texts.h"
#include "ui/theme/theme.h"
#include "ui/widgets/format.h"
#include "ui/widgets/labelled_edit.h"

namespace batchscope::ui {

namespace {

/// `2 epochs`, `300 steps`.
QString length_text(const run::RunSpec& spec) {
  if (spec.length.steps)
    return *spec.length.steps == 1 ? HowCard::tr("1 step")
                                   : HowCard::tr("%1 steps").arg(format_count(*spec.length.steps));
  if (spec.length.examples)
    return HowCard::tr("%1 examples").arg(format_count(*spec.length.examples));
  const std::int64_t epochs = spec.length.epochs.value_or(1);
  return epochs == 1 ? HowCard::tr("1 epoch") : HowCard::tr("%1 epochs").arg(format_count(epochs));
}

QString model_text(const run::RunSpec& spec) {
  return QString::fromStdString(spec.model);
}

QString budget_text(const run::RunSpec& spec) {
  return QString::fromStdString(run::field_text(spec, "memory_budget"));
}

/// As set_length() takes it, whatever the language of numbers is: `2 epochs`.
QString length_field_text(const run::RunSpec& spec) {
  const auto text = [](std::int64_t number, const char* unit) {
    return QStringLiteral("%1 %2%3").arg(number).arg(QLatin1String(unit), number == 1 ? "" : "s");
  };
  if (spec.length.steps)
    return text(*spec.length.steps, "step");
  if (spec.length.examples)
    return text(*spec.length.examples, "example");
  return text(spec.length.epochs.value_or(1), "epoch");
}

/// `2 epochs`, `300 steps` or `5,000 examples`. Throws Error (input).
void set_length(run::RunSpec& spec, const QString& text) {
  static const QRegularExpression form(QStringLiteral("^(\\d{1,3}(?:,\\d{3})+|\\d+)\\s*(epoch|step|example)s?$"),
                                       QRegularExpression::CaseInsensitiveOption);
  const QRegularExpressionMatch match = form.match(text);
  if (!match.hasMatch())
    throw input_error(HowCard::tr("Enter a number of epochs, steps or examples, such as \"2 epochs\" or \"300 steps\"")
                          .toStdString());
  run::set_field(spec, match.captured(2).toLower().toStdString() + 's', match.captured(1).remove(',').toStdString());
}

void set_model(run::RunSpec& spec, const QString& text) {
  run::set_field(spec, "model", text.toStdString());
}

void set_budget(run::RunSpec& spec, const QString& text) {
  run::set_field(spec, "memory_budget", text.toStdString());
}

bool varies(const sweep::SweepSpec& spec, const std::vector<const char*>& fields) {
  return std::any_of(spec.vary.begin(), spec.vary.end(), [&](const sweep::Variation& variation) {
    return std::find(fields.begin(), fields.end(), variation.field) != fields.end();
  });
}

QString varied_or(const sweep::SweepSpec& spec, const std::vector<const char*>& fields, const QString& text) {
  return varies(spec, fields) ? HowCard::tr("varies") : text;
}

} // namespace

HowCard::HowCard(QWidget* parent)
    : Card(tr("How"), parent), facts_(new FactList(this)), model_(new_field_edit("model", this)),
      length_(new LabelledEdit(tr("Each run"), this)), budget_(new_field_edit("memory_budget", this)),
      change_(plain_button(tr("All settings…"), this)), only_(new LabelledEdit(tr("Only where"), this)),
      random_(new LabelledEdit(tr("Draw at random"), this)), weak_(new QCheckBox(tr("Stop weak runs early"), this)) {
  facts_->setObjectName(QStringLiteral("how"));
  settings_ = {{model_, {"model"}, model_text, set_model, false},
               {length_, {"steps", "epochs", "examples"}, length_field_text, set_length, false},
               {budget_, {"memory_budget"}, budget_text, set_budget, true}};
  length_->setObjectName(QStringLiteral("length"));
  length_->set_help(tr("How long each run trains: epochs, steps or examples"));
  auto* settings = new QHBoxLayout;
  settings->setSpacing(Theme::lines(0.5));
  settings->addWidget(length_);
  settings->addWidget(budget_);
  body()->addWidget(model_);
  body()->addLayout(settings);
  body()->addWidget(facts_);
  for (const LabelledEdit* edit : {model_, length_, budget_})
    connect(edit->edit(), &QLineEdit::textEdited, this, [this] {
      check_settings();
      Q_EMIT changed();
    });
  auto* at_left = new QHBoxLayout;
  change_->setObjectName(QStringLiteral("change_base"));
  change_->setToolTip(tr("Change the other settings on New run, and come back with its button Sweep…"));
  at_left->addWidget(change_);
  at_left->addStretch();
  body()->addLayout(at_left);
  only_->setObjectName(QStringLiteral("only"));
  only_->edit()->setPlaceholderText(tr("batch >= 64 or lr < 0.01"));
  only_->set_help(tr("Leave out combinations that do not meet this condition"));
  random_->setObjectName(QStringLiteral("random"));
  random_->edit()->setPlaceholderText(tr("all of them"));
  random_->set_help(tr("Number of combinations to draw at random; required for ranges such as 0.0001..0.1 log"));
  weak_->setObjectName(QStringLiteral("stop_weak"));
  weak_->setToolTip(tr("Stops a run whose training loss is above the median of the finished runs at the same progress, "
                       "once four runs have finished"));
  auto* row = new QHBoxLayout;
  row->setSpacing(Theme::lines(0.5));
  row->addWidget(only_, 3);
  row->addWidget(random_, 2);
  body()->addLayout(row);
  body()->addWidget(weak_);
  connect(change_, &QPushButton::clicked, this, &HowCard::base_wanted);
  connect(only_->edit(), &QLineEdit::textEdited, this, [this] {
    only_->set_error({});
    Q_EMIT changed();
  });
  connect(random_->edit(), &QLineEdit::textEdited, this, [this] {
    check_random();
    Q_EMIT changed();
  });
  connect(weak_, &QCheckBox::toggled, this, &HowCard::changed);
}

void HowCard::show_plan(const sweep::SweepSpec& spec) {
  show_spec(spec, false);
}

void HowCard::show_stored(const sweep::SweepSpec& spec) {
  show_spec(spec, true);
}

void HowCard::show_spec(const sweep::SweepSpec& spec, bool stored) {
  spec_ = spec;
  stored_ = stored;
  const QSignalBlocker quiet(weak_);
  only_->set_text(QString::fromStdString(spec.only));
  only_->set_error({});
  random_->set_text(spec.random ? QString::number(*spec.random) : QString());
  random_->set_error({});
  weak_->setChecked(spec.stop_weak == sweep::StopWeak::median);
  for (QWidget* input : {static_cast<QWidget*>(only_), static_cast<QWidget*>(random_), static_cast<QWidget*>(weak_),
                         static_cast<QWidget*>(change_), static_cast<QWidget*>(budget_)})
    input->setVisible(!stored);
  for (LabelledEdit* edit : {model_, length_}) // a program has its own
    edit->setVisible(!stored && !spec.base.program);
  const run::SpecField& budget = run::spec_field("memory_budget");
  describe(*budget_, spec.base.program ? as_for_programs(budget) : budget);
  show_settings(true);
  show_facts();
}

void HowCard::show_edited(const sweep::SweepSpec& spec) {
  spec_ = spec;
  show_settings(false);
  show_facts();
}

/// `all`: also those that can be edited before and after, in which the user may be typing.
void HowCard::show_settings(bool all) {
  for (const Setting& setting : settings_) {
    const bool varied = varies(spec_, setting.fields);
    QLineEdit& edit = *setting.edit->edit();
    if (!all && varied != edit.isEnabled())
      continue;
    edit.setEnabled(!varied);
    setting.edit->set_text(varied ? tr("varies") : setting.text(spec_.base));
    setting.edit->set_error({});
  }
}

void HowCard::show_runs(std::size_t runs, std::int64_t workers) {
  runs_ = runs;
  workers_ = workers;
  show_facts();
}

void HowCard::show_facts() {
  const run::RunSpec& base = spec_.base;
  const auto field = [&](const char* key) {
    return varied_or(spec_, {key}, QString::fromStdString(run::field_text(base, key)));
  };
  const QString budget = base.memory_budget ? format_bytes(static_cast<double>(*base.memory_budget))
                         : base.program     ? tr("no memory limit")
                                            : tr("80 % of free memory");
  QList<FactList::Fact> facts;
  const bool edited = !stored_; // in the fields below
  if (base.program)
    facts << FactList::Fact{.name = tr("program"),
                            .value = subject_of(base),
                            .help = QString::fromStdString(run::command_text(*base.program))};
  else if (!edited)
    facts << FactList::Fact{.name = tr("model"), .value = field("model")};
  if (!base.program)
    facts << FactList::Fact{.name = tr("data"), .value = field("data")};
  const QString device = field("device");
  facts << FactList::Fact{.name = tr("device"),
                          .value = edited ? device
                                          : QStringLiteral("%1, %2").arg(device,
                                                                         varied_or(spec_, {"memory_budget"}, budget))}
        << FactList::Fact{.name = tr("runs"), .value = format_count(static_cast<std::int64_t>(runs_))};
  if (base.program)
    facts << FactList::Fact{.name = tr("each"), .value = tr("until the program ends")};
  else if (!edited)
    facts << FactList::Fact{.name = tr("each"),
                            .value = varied_or(spec_, {"steps", "epochs", "examples"}, length_text(base))};
  facts << QList<FactList::Fact>{
      {.name = tr("order"),
       .value = spec_.random ? tr("as drawn") : tr("as listed"),
       .help = tr("Waiting runs can be reordered in the table")},
  };
  if (stored_ && !spec_.only.empty())
    facts << FactList::Fact{.name = tr("only where"), .value = QString::fromStdString(spec_.only)};
  if (stored_ && spec_.random)
    facts << FactList::Fact{.name = tr("drawn"), .value = format_count(*spec_.random)};
  if (stored_)
    facts << FactList::Fact{.name = tr("stop weak runs"),
                            .value = spec_.stop_weak == sweep::StopWeak::median ? tr("yes") : tr("no")};
  facts << FactList::Fact{
      .name = tr("workers"),
      .value = workers_ <= 1 ? tr("1, times comparable") : tr("%1, times not comparable").arg(workers_),
      .help = tr("Other programs join with: batchscope-cli sweep --join ID. Times are comparable only if each run "
                 "trains alone.")};
  facts_->set_facts(facts);
}

std::map<LabelledEdit*, QString> HowCard::take_settings(run::RunSpec& base) const {
  std::map<LabelledEdit*, QString> errors;
  for (const Setting& setting : settings_) {
    const bool set = setting.edit->edit()->isEnabled() && (setting.for_programs || !base.program);
    if (!set || setting.edit->text() == setting.text(base))
      continue;
    try {
      setting.set(base, setting.edit->text());
    } catch (const Error& problem) {
      errors[setting.edit] = QString::fromUtf8(problem.what());
    }
  }
  return errors;
}

void HowCard::check_settings() {
  run::RunSpec base = spec_.base;
  const auto errors = take_settings(base);
  for (const Setting& setting : settings_) {
    const auto error = errors.find(setting.edit);
    setting.edit->set_error(error == errors.end() ? QString() : error->second);
  }
}

void HowCard::check_random() {
  QString error;
  try {
    if (!random_->text().isEmpty())
      parse_integer(random_->text().toStdString(), "random", 1, sweep::SweepSpec::max_runs);
  } catch (const Error& problem) {
    error = QString::fromUtf8(problem.what());
  }
  random_->set_error(error);
}

void HowCard::apply(sweep::SweepSpec& spec) const {
  take_settings(spec.base);
  spec.only = only_->text().toStdString();
  spec.random.reset();
  if (!random_->text().isEmpty() && random_->error().isEmpty())
    spec.random = random_->text().toLongLong();
  spec.stop_weak = weak_->isChecked() ? sweep::StopWeak::median : sweep::StopWeak::never;
}

bool HowCard::has_error() const {
  const QList<const LabelledEdit*> edits{model_, length_, budget_, random_, only_};
  return std::any_of(edits.begin(), edits.end(), [](const LabelledEdit* edit) { return !edit->error().isEmpty(); });
}

bool HowCard::show_error(const QString& error) {
  for (const auto& [option, edit] : {std::pair(QStringLiteral("--only:"), only_),
                                     {QStringLiteral("--random:"), random_},
                                     {QStringLiteral("--model:"), model_},
                                     {QStringLiteral("--epochs:"), length_},
                                     {QStringLiteral("--steps:"), length_},
                                     {QStringLiteral("--examples:"), length_},
                                     {QStringLiteral("--memory-budget:"), budget_}})
    if (error.startsWith(option)) {
      edit->set_error(error);
      return true;
    }
  return false;
}

} // namespace batchscope::ui

#include "moc_how_card.cpp"
