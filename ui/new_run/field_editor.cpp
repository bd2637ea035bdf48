#include "ui/new_run/field_editor.h"

#include <QCheckBox>
#include <QComboBox>
#include <QEvent>
#include <QHBoxLayout>
#include <QKeyEvent>
#include <QLabel>
#include <QLineEdit>
#include <QPlainTextEdit>

#include <algorithm>

#include "ui/new_run/command_edit.h"
#include "ui/new_run/form_fields.h"
#include "ui/texts/spec_texts.h"
#include "ui/theme/theme.h"
#include "ui/widgets/note_line.h"
#include "ui/widgets/widgets.h"

namespace batchscope::ui {

namespace {

using Kind = run::SpecField::Kind;

constexpr double label_lines = 10.5;
constexpr double control_lines = 1.95;
constexpr double values_lines = 3.6; ///< of several values, one in a line
constexpr double units_lines = 6.5;
constexpr int editor_gap = 8;

QString tool_tip(const run::SpecField& field) {
  return QStringLiteral("%1 (%2)").arg(field_translation(field.help), QString::fromStdString(field.option));
}

/// Scrolling a form with the wheel must not change controls; only a focused control takes the wheel.
bool is_stray_wheel(QObject* watched, QEvent* event) {
  const auto* combo = qobject_cast<QComboBox*>(watched);
  return combo && event->type() == QEvent::Wheel && !combo->hasFocus();
}

/// Undo and redo belong to the whole form: a field's own undo would revert typing there without knowing about presets.
bool is_undo(QEvent* event) {
  if (event->type() != QEvent::ShortcutOverride)
    return false;
  const auto* key = static_cast<QKeyEvent*>(event);
  return key->matches(QKeySequence::Undo) || key->matches(QKeySequence::Redo);
}

} // namespace

FieldEditor::FieldEditor(const QString& label, std::vector<const run::SpecField*> fields, QWidget* parent)
    : QWidget(parent), label_(label), fields_(std::move(fields)) {
  auto* name = dimmed_label(label, this);
  name->setWordWrap(true);
  name->setFixedWidth(Theme::lines(label_lines));
  control_ = make_control();
  control_->setMinimumHeight(Theme::lines(lines_ ? values_lines : control_lines));
  control_->setObjectName(QString::fromStdString(field().key));
  control_->setAccessibleName(label);
  control_->installEventFilter(this);
  name->setBuddy(control_);
  setFocusProxy(control_);
  note_ = new NoteLine(*control_, this);
  note_->set_begin(Theme::lines(label_lines) + editor_gap); // below the control, not below the name

  row_ = new QHBoxLayout;
  row_->setSpacing(editor_gap);
  row_->addWidget(name);
  row_->addWidget(control_, 1);
  if (fields_.size() > 1)
    make_units();
  auto* layout = new QVBoxLayout(this);
  layout->setContentsMargins(0, 0, 0, 0);
  layout->setSpacing(0);
  layout->addLayout(row_);
  layout->addWidget(note_);
  show_unit();
}

QWidget* FieldEditor::make_control() {
  const run::SpecField& field = *fields_.front();
  if (field.kind == Kind::flag) {
    check_ = new QCheckBox(this);
    connect(check_, &QCheckBox::toggled, this, &FieldEditor::edited);
    return check_;
  }
  if (field.kind == Kind::choice || !field.choices.empty())
    return combo_ = make_combo(field);
  const FieldInput input = input_of(field);
  if (input == FieldInput::lines)
    return lines_ = make_lines();
  line_ = input == FieldInput::command ? new CommandEdit(this) : new QLineEdit(this);
  connect(line_, &QLineEdit::textChanged, this, &FieldEditor::edited);
  return line_;
}

QPlainTextEdit* FieldEditor::make_lines() {
  auto* lines = new QPlainTextEdit(this);
  lines->setLineWrapMode(QPlainTextEdit::NoWrap);
  lines->setTabChangesFocus(true);
  lines->setFixedHeight(Theme::lines(values_lines));
  connect(lines, &QPlainTextEdit::textChanged, this, &FieldEditor::edited);
  return lines;
}

QComboBox* FieldEditor::make_combo(const run::SpecField& field) {
  auto* combo = new QComboBox(this);
  for (const std::string& choice : field.choices)
    combo->addItem(QString::fromStdString(choice));
  combo->setSizeAdjustPolicy(QComboBox::AdjustToMinimumContentsLengthWithIcon);
  combo->setMinimumContentsLength(8);
  combo->setFocusPolicy(Qt::StrongFocus);
  if (field.kind == Kind::choice) {
    connect(combo, &QComboBox::currentTextChanged, this, &FieldEditor::edited);
    return combo;
  }
  combo->setEditable(true);
  combo->setInsertPolicy(QComboBox::NoInsert);
  // Completion would leave more text in the field than was typed.
  combo->setCompleter(nullptr);
  connect(combo, &QComboBox::editTextChanged, this, &FieldEditor::edited);
  return combo;
}

void FieldEditor::make_units() {
  units_ = new QComboBox(this);
  for (const run::SpecField* field : fields_)
    units_->addItem(field_translation(field->unit));
  units_->setAccessibleName(tr("%1: unit").arg(label_));
  units_->setFocusPolicy(Qt::StrongFocus);
  units_->setFixedSize(Theme::lines(units_lines), Theme::lines(control_lines));
  units_->installEventFilter(this);
  row_->addWidget(units_);
  connect(units_, &QComboBox::currentIndexChanged, this, [this](int index) {
    chosen_ = static_cast<std::size_t>(std::max(index, 0));
    show_unit();
    Q_EMIT edited();
    if (units_->hasFocus())
      Q_EMIT entered();
  });
}

void FieldEditor::show_unit() {
  setToolTip(tool_tip(field()));
  control_->setAccessibleDescription(field_translation(field().help));
  QLineEdit* line = combo_ ? combo_->lineEdit() : line_;
  // The unit of a size is part of its text.
  if (units_ || line == nullptr || field().unit.empty() || field().kind == Kind::bytes)
    return;
  unit_ = dimmed_label(field_translation(field().unit), line);
  unit_->setAttribute(Qt::WA_TransparentForMouseEvents);
  line->installEventFilter(this);
}

bool FieldEditor::edits(const std::string& key) const {
  return std::any_of(fields_.begin(), fields_.end(), [&](const run::SpecField* field) { return field->key == key; });
}

QString FieldEditor::text() const {
  if (check_)
    return check_->isChecked() ? QStringLiteral("true") : QStringLiteral("false");
  if (lines_)
    return lines_->toPlainText();
  return combo_ ? combo_->currentText() : line_->text();
}

void FieldEditor::set_text(const std::string& key, const QString& text) {
  for (std::size_t i = 0; units_ && i < fields_.size(); ++i)
    if (fields_[i]->key == key)
      units_->setCurrentIndex(static_cast<int>(i));
  if (text == this->text())
    return;
  if (check_)
    check_->setChecked(text == QLatin1String("true"));
  else if (lines_)
    lines_->setPlainText(text);
  else if (line_)
    line_->setText(text);
  else if (combo_->isEditable()) {
    combo_->setEditText(text);
    // If the text is cut off, its beginning is more informative.
    if (!combo_->hasFocus())
      combo_->lineEdit()->setCursorPosition(0);
  } else
    combo_->setCurrentText(text);
}

void FieldEditor::set_placeholder(const QString& text) {
  if (lines_)
    lines_->setPlaceholderText(text);
  if (QLineEdit* line = combo_ ? combo_->lineEdit() : line_)
    line->setPlaceholderText(text);
}

void FieldEditor::set_error(const QString& error) {
  error_ = error;
  show_note();
  mark_wrong(*control_, !error.isEmpty());
  control_->setAccessibleDescription(error.isEmpty() ? field_translation(field().help) : error);
}

void FieldEditor::set_hint(const QString& hint) {
  hint_ = hint;
  show_note();
}

void FieldEditor::show_note() {
  note_->show_note(error_.isEmpty() ? hint_ : error_, !error_.isEmpty());
}

QString FieldEditor::error() const {
  return error_;
}

void FieldEditor::add_button(QWidget* button) {
  button->setParent(this);
  button->setMinimumHeight(Theme::lines(control_lines));
  row_->addWidget(button);
}

bool FieldEditor::eventFilter(QObject* watched, QEvent* event) {
  if (is_undo(event)) {
    event->ignore();
    return true;
  }
  if (is_stray_wheel(watched, event)) {
    event->ignore();
    return true;
  }
  if (event->type() == QEvent::FocusIn && (watched == control_ || watched == units_))
    Q_EMIT entered();
  auto* line = qobject_cast<QLineEdit*>(watched);
  if (line && unit_ && unit_->parent() == line &&
      (event->type() == QEvent::Resize || event->type() == QEvent::Show || event->type() == QEvent::FontChange)) {
    const int width = unit_->sizeHint().width();
    const int margin = combo_ ? 0 : editor_gap;
    unit_->setGeometry(line->width() - width - margin, 0, width, line->height());
    line->setTextMargins(0, 0, width + margin / 2, 0);
  }
  return QWidget::eventFilter(watched, event);
}

} // namespace batchscope::ui

#include "moc_field_editor.cpp"
