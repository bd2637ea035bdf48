#include "ui/schedule/schedule_form.h"

#include <QComboBox>
#include <QCompleter>
#include <QHBoxLayout>
#include <QKeyEvent>
#include <QMenu>
#include <QPushButton>
#include <QSignalBlocker>
#include <QVBoxLayout>

#include <limits>

#include "core/base/error.h"
#include "core/base/text.h"
#include "core/run/spec_fields.h"
#include "core/schedule/batch_schedule.h"
#include "core/schedule/schedule_kind.h"
#include "ui/opened_runs/open_run.h"
#include "ui/schedule/presets.h"
#include "ui/schedule/shares_field.h"
#include "ui/widgets/labelled_edit.h"
#include "ui/widgets/widgets.h"

namespace batchscope::ui {

namespace {

const char* unit_of(const schedule::RunLength& length) {
  return length.steps ? "steps" : length.examples ? "examples" : "epochs";
}

/// A widget without a name above it, aligned with the fields beside it.
QWidget* beside_fields(QWidget* widget, QWidget* parent) {
  auto* holder = new QWidget(parent);
  auto* column = new QVBoxLayout(holder);
  column->setContentsMargins(0, 0, 0, 0);
  column->setSpacing(2);
  column->addWidget(dimmed_label({}, holder));
  column->addWidget(widget);
  column->addStretch();
  return holder;
}

} // namespace

ScheduleForm::ScheduleForm(QWidget* parent)
    : QWidget(parent), schedule_(new LabelledEdit(tr("Batch size schedule"), this)),
      presets_(plain_button(tr("Examples"), this)), menu_(new QMenu(this)), shares_(new SharesField(this)),
      batch_(new LabelledEdit(tr("First batch"), this)), length_(new LabelledEdit(tr("Length"), this)),
      unit_(new QComboBox(this)) {
  schedule_->setObjectName(QStringLiteral("schedule"));
  QStringList forms;
  for (const std::string& form : schedule::schedule_forms())
    forms << QString::fromStdString(form);
  schedule_->set_help(tr("One of: %1").arg(forms.join(QStringLiteral("\n"))));
  set_changeable({});
  schedule_->edit()->installEventFilter(this);
  connect(schedule_->edit(), &QLineEdit::textEdited, this, &ScheduleForm::typed);
  connect(schedule_->edit(), &QLineEdit::returnPressed, this, &ScheduleForm::entered);
  presets_->setMenu(menu_);
  presets_->setToolTip(tr("Example schedules that fit this run"));
  batch_->setObjectName(QStringLiteral("first_batch"));
  batch_->set_help(tr("Batch size of the first step, in examples"));
  length_->setObjectName(QStringLiteral("length"));
  length_->set_help(tr("Length of the run"));
  for (const char* unit : {"epochs", "steps", "examples"})
    unit_->addItem(tr(unit), QString::fromLatin1(unit));
  unit_->setObjectName(QStringLiteral("unit"));
  unit_->setAccessibleName(tr("Unit of the length"));
  connect(shares_, &SharesField::entered, this, &ScheduleForm::entered);
  connect(shares_, &SharesField::dismissed, this, &ScheduleForm::dismissed);
  connect(shares_, &SharesField::typed, this, [this] {
    if (batch_->isVisibleTo(this))
      read_draft();
    Q_EMIT shares_typed();
  });
  connect(batch_->edit(), &QLineEdit::textEdited, this, &ScheduleForm::read_draft);
  connect(length_->edit(), &QLineEdit::textEdited, this, &ScheduleForm::read_draft);
  connect(unit_, &QComboBox::activated, this, &ScheduleForm::read_draft);

  auto* row = new QHBoxLayout(this);
  row->setContentsMargins(0, 0, 0, 0);
  row->setSpacing(8);
  row->addWidget(schedule_, 6);
  row->addWidget(beside_fields(presets_, this));
  row->addWidget(shares_, 3);
  row->addWidget(batch_, 1);
  row->addWidget(length_, 1);
  of_draft_ = {batch_, length_, beside_fields(unit_, this)};
  row->addWidget(of_draft_.last());
}

bool ScheduleForm::eventFilter(QObject* watched, QEvent* event) {
  if (watched == schedule_->edit() && event->type() == QEvent::KeyPress &&
      static_cast<QKeyEvent*>(event)->key() == Qt::Key_Escape) {
    Q_EMIT dismissed();
    return true;
  }
  return QWidget::eventFilter(watched, event);
}

void ScheduleForm::show_draft(const DraftPlan& draft) {
  draft_ = draft;
  for (QWidget* widget : of_draft_)
    widget->setVisible(widget == batch_ || !draft.spec.program); // a program has a length of its own
  set_changeable({});
  shares_->show_shares(draft.spec, draft.spec.shares, true);
  if (batch_->error().isEmpty() || !batch_->edit()->hasFocus()) {
    batch_->set_text(QString::number(draft.batch));
    batch_->set_error({});
  }
  if (!draft.spec.program && (length_->error().isEmpty() || !length_->edit()->hasFocus())) {
    show_length();
    length_->set_error({});
  }
}

void ScheduleForm::show_length() {
  const char* unit = unit_of(draft_.spec.length);
  unit_->setCurrentIndex(unit_->findData(QString::fromLatin1(unit)));
  length_->set_text(QString::fromStdString(run::field_text(draft_.spec, unit)));
}

void ScheduleForm::show_run(const OpenRun& run, bool changeable) {
  for (QWidget* widget : of_draft_)
    widget->hide();
  const QString fixed = run.running() ? run.not_steerable() : QString();
  set_changeable(changeable        ? QString()
                 : fixed.isEmpty() ? tr("The schedule can be changed only until the run ends")
                                   : fixed);
  if (run.spec())
    shares_->show_shares(*run.spec(), run.shares(), changeable);
  else
    shares_->show_none();
}

void ScheduleForm::set_changeable(const QString& why_not) {
  schedule_->setEnabled(why_not.isEmpty());
  presets_->setEnabled(why_not.isEmpty());
  QStringList kinds;
  for (const schedule::ScheduleKind* kind : schedule::schedule_kinds())
    kinds << QString::fromUtf8(kind->name);
  // There in good times too, so that the plots do not jump while a schedule is typed.
  schedule_->set_hint(why_not.isEmpty()
                          ? tr("%1; press Enter to apply, Escape to discard").arg(kinds.join(QStringLiteral(", ")))
                          : why_not);
}

void ScheduleForm::focus_schedule() {
  schedule_->edit()->setFocus();
  schedule_->edit()->selectAll();
}

void ScheduleForm::set_schedule(const QString& text) {
  if (text == schedule_->text()) // the user may have typed spaces at the ends
    return;
  schedule_->set_text(text);
  schedule_->edit()->setCursorPosition(0); // shows the beginning of a long text
}

QString ScheduleForm::schedule() const {
  return schedule_->text();
}

void ScheduleForm::set_error(const QString& error) {
  const bool of_batch = batch_->isVisible() && error.startsWith(QLatin1String("batch "));
  // The error quotes the text that is directly above it.
  const QString quoted = QStringLiteral("schedule '%1': ").arg(schedule().trimmed());
  const QString text = error.startsWith(quoted) ? error.mid(quoted.size()) : error;
  schedule_->set_error(of_batch ? QString() : text);
  if (of_batch || batch_refused_)
    batch_->set_error(of_batch ? error : QString());
  batch_refused_ = of_batch;
}

bool ScheduleForm::show_start_error(const std::string& field, const QString& error) {
  LabelledEdit* edit = field == "schedule"                    ? schedule_
                       : field == "batch"                     ? batch_
                       : field == unit_of(draft_.spec.length) ? length_
                                                              : nullptr;
  if (edit == nullptr || !edit->isVisible())
    return false;
  edit->edit()->setFocus(); // a field keeps its error while it is edited
  edit->set_error(error);
  return true;
}

void ScheduleForm::set_size(std::int64_t batch, std::int64_t steps, double epochs) {
  menu_->clear();
  const QList<SchedulePreset> presets = schedule_presets(batch, steps, epochs);
  for (const SchedulePreset& preset : presets) {
    auto* action = menu_->addAction(QStringLiteral("%1\t%2").arg(preset.name, preset.text));
    connect(action, &QAction::triggered, this, [this, text = preset.text] {
      schedule_->set_text(text);
      schedule_->edit()->setFocus();
      Q_EMIT typed(text);
      Q_EMIT entered();
    });
  }
  if (schedule_->edit()->hasFocus() && schedule_->edit()->completer() != nullptr)
    return; // the examples do not change while the user types
  QStringList texts;
  for (const SchedulePreset& preset : presets)
    texts << preset.text;
  schedule_->set_choices(texts);
}

void ScheduleForm::read_length(const std::string& text, run::RunSpec& spec) const {
  const std::string unit = unit_->currentData().toString().toStdString();
  if (text.empty())
    throw input_error("length: no value given; accepted: a whole number of " + unit);
  run::set_field(spec, unit, text);
  for (const auto& [key, message] : run::check_fields(spec))
    if (key == unit)
      throw input_error(message);
}

void ScheduleForm::read_draft() {
  DraftPlan draft = draft_;
  bool good = true;
  const auto read = [&good](LabelledEdit* edit, auto&& take) {
    QString problem;
    try {
      take(edit->text().toStdString());
    } catch (const Error& error) {
      problem = QString::fromUtf8(error.what());
      good = false;
    }
    edit->set_error(problem);
  };
  read(batch_, [&](const std::string& text) {
    draft.batch = parse_integer(text, "first batch", 1, std::numeric_limits<std::int64_t>::max());
  });
  if (!draft.spec.program)
    read(length_, [&](const std::string& text) { read_length(text, draft.spec); });
  if (shares_->changed() && shares_->error().isEmpty())
    draft.spec.shares = shares_->text().toStdString();
  if (!good || !shares_->error().isEmpty())
    return;
  draft_ = draft;
  Q_EMIT draft_edited(draft);
}

} // namespace batchscope::ui

#include "moc_schedule_form.cpp"
