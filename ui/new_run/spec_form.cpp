#include "ui/new_run/spec_form.h"

#include <QBoxLayout>
#include <QCoreApplication>
#include <QJsonArray>
#include <QResizeEvent>

#include <algorithm>

#include "core/base/error.h"
#include "ui/new_run/field_card.h"
#include "ui/new_run/field_editor.h"
#include "ui/texts/spec_texts.h"
#include "ui/theme/theme.h"
#include "ui/widgets/labelled_edit.h"

namespace batchscope::ui {

namespace {

using Kind = run::SpecField::Kind;

constexpr int form_gap = 10;
constexpr double two_columns_from = 54; ///< lines of text

/// Fields of which a run has exactly one.
bool is_length(const run::SpecField& field) {
  return field.group == "Length";
}

std::vector<const run::SpecField*> length_fields() {
  std::vector<const run::SpecField*> fields;
  for (const run::SpecField& field : run::spec_fields())
    if (is_length(field))
      fields.push_back(&field);
  return fields;
}

/// Numbers with default values are shown as placeholder; texts are shown for editing.
QString text_to_show(const run::RunSpec& spec, const run::SpecField& field) {
  const std::string text = form_text(spec, field);
  const bool number = field.kind == Kind::integer || field.kind == Kind::real || field.kind == Kind::bytes;
  const bool only_length = is_length(field) && !spec.program;
  if (number && !only_length && text == form_text(empty_spec(kind_of(spec)), field))
    return {};
  return QString::fromStdString(text);
}

/// Meaning of an empty field, or an example.
std::string shown_while_empty(const run::RunSpec& spec, const run::SpecField& field) {
  if (!field.member)
    return field.placeholder.empty() ? field.default_text : field.placeholder;
  if (field.default_text != run::spec_field(field.key).default_text)
    return field.default_text; // differs for programs
  run::RunSpec unset = spec;
  run::set_field(unset, field.key, {});
  return run::field_shown(unset, field.key);
}

} // namespace

SpecForm::SpecForm(FormKind kind, QWidget* parent)
    : QWidget(parent), kind_(kind), columns_(new QBoxLayout(QBoxLayout::LeftToRight, this)) {
  columns_->setContentsMargins(0, 0, 0, 0);
  columns_->setSpacing(form_gap);
  setObjectName(kind == FormKind::network ? QStringLiteral("network-form") : QStringLiteral("program-form"));
  make_cards();
  set_spec(empty_spec(kind));
}

void SpecForm::make_cards() {
  const auto& cards = form_cards(kind_);
  std::vector<QVBoxLayout*> columns;
  for (const FormCard& plan : cards) {
    while (columns.size() <= static_cast<std::size_t>(plan.column)) {
      columns.push_back(new QVBoxLayout);
      columns.back()->setSpacing(form_gap);
      columns_->addLayout(columns.back(), 1);
    }
    auto* card = new FieldCard(tr(plan.title), this);
    for (const run::SpecField* field : plan.fields) {
      if (editor(field->key))
        continue;
      FieldEditor* made = make_editor(*field);
      card->add(made);
      cards_[made] = card;
    }
    card->finish();
    columns[static_cast<std::size_t>(plan.column)]->addWidget(card);
  }
  for (auto* column : columns)
    column->addStretch();
}

FieldEditor* SpecForm::make_editor(const run::SpecField& field) {
  auto* made = is_length(field) && kind_ == FormKind::network
                   ? new FieldEditor(tr("Length"), length_fields(), this)
                   : new FieldEditor(field_translation(field.label), {&field}, this);
  editors_.push_back(made);
  connect(made, &FieldEditor::edited, this, [this, made] { check_edited(made); });
  connect(made, &FieldEditor::entered, this, [this, made] { Q_EMIT field_entered(made->field()); });
  return made;
}

FieldEditor* SpecForm::editor(const std::string& key) const {
  const auto found =
      std::find_if(editors_.begin(), editors_.end(), [&](const FieldEditor* editor) { return editor->edits(key); });
  return found == editors_.end() ? nullptr : *found;
}

void SpecForm::set_spec(const run::RunSpec& spec) {
  filling_ = true;
  for (const run::SpecField* field : form_fields(kind_)) {
    const QString text = text_to_show(spec, *field);
    // Only the one of several alternatives that is set.
    if (kind_ == FormKind::program || !is_length(*field) || !text.isEmpty())
      editor(field->key)->set_text(field->key, text);
  }
  filling_ = false;
  command_missed_ = false;
  remarks_.clear();
  unfold_what_differs();
  check();
}

void SpecForm::unfold_what_differs() {
  const run::RunSpec standard = empty_spec(kind_);
  for (const auto& [editor, card] : cards_) {
    const QString text = editor->text();
    if (editor->advanced() && !text.isEmpty() && text.toStdString() != form_text(standard, editor->field()))
      card->set_folded(false);
  }
}

void SpecForm::check_edited(FieldEditor* editor) {
  if (filling_)
    return;
  remarks_.erase(editor);
  check();
}

/// Whether a program is given, or none is needed.
bool SpecForm::begun() const {
  return kind_ == FormKind::network || !editor("command")->text().trimmed().isEmpty();
}

void SpecForm::check() {
  run::RunSpec spec = empty_spec(kind_);
  errors_.clear();
  if (!begun())
    errors_[editor("command")] = tr("Enter the command that starts your program");
  for (FieldEditor* editor : editors_) {
    try {
      set_form_field(spec, editor->field(), editor->text().toStdString());
    } catch (const Error& error) {
      errors_[editor] = without_option(QString::fromUtf8(error.what()), editor->text());
    }
  }
  for (const auto& [key, message] : check_form(spec))
    errors_.try_emplace(editor(key), without_option(QString::fromStdString(message), editor(key)->text()));
  spec_ = errors_.empty() ? std::optional(spec) : std::nullopt;
  show_errors();
  show_placeholders(spec);
  Q_EMIT changed();
}

void SpecForm::show_errors() {
  for (FieldEditor* editor : editors_) {
    const auto error = errors_.find(editor);
    const auto remark = remarks_.find(editor);
    QString text = error != errors_.end() ? error->second : remark != remarks_.end() ? remark->second : QString();
    if (!begun() && !command_missed_ && editor->edits("command"))
      text.clear(); // an empty form is no error
    if (text != editor->error())
      editor->set_error(text);
  }
  for (FieldCard* card : findChildren<FieldCard*>())
    card->show_errors();
}

void SpecForm::show_placeholders(const run::RunSpec& spec) {
  for (FieldEditor* editor : editors_) {
    editor->set_placeholder(field_translation(shown_while_empty(spec, editor->field())));
  }
}

void SpecForm::remark(const std::string& key, const QString& message) {
  remarks_[editor(key)] = without_option(message, editor(key)->text());
  show_errors();
  unfold(editor(key));
}

void SpecForm::show_hint(const std::string& key, const QString& hint) {
  editor(key)->set_hint(hint);
}

void SpecForm::unfold(const FieldEditor* editor) {
  if (editor->advanced())
    cards_.at(editor)->set_folded(false);
}

void SpecForm::go_to_error() {
  command_missed_ = true;
  show_errors();
  for (FieldEditor* editor : editors_)
    if (errors_.contains(editor)) {
      unfold(editor);
      editor->setFocus();
      return;
    }
}

QJsonObject SpecForm::texts() const {
  QJsonObject texts;
  for (const FieldEditor* editor : editors_)
    texts[QString::fromStdString(editor->field().key)] = editor->text();
  return texts;
}

void SpecForm::set_texts(const QJsonObject& texts) {
  QJsonObject all = this->texts();
  for (auto text = texts.begin(); text != texts.end(); ++text)
    all[text.key()] = *text;
  for (FieldEditor* changed : differing(this->texts(), all)) {
    remarks_.erase(changed);
    unfold(changed);
  }
  filling_ = true;
  for (const run::SpecField* field : form_fields(kind_))
    if (const QJsonValue text = texts[QString::fromStdString(field->key)]; text.isString())
      editor(field->key)->set_text(field->key, text.toString());
  filling_ = false;
  check();
}

std::vector<FieldEditor*> SpecForm::differing(const QJsonObject& one, const QJsonObject& other) const {
  std::vector<FieldEditor*> found;
  for (FieldEditor* editor : editors_)
    for (const run::SpecField* field : form_fields(kind_))
      if (const QString key = QString::fromStdString(field->key); editor->edits(field->key) && one[key] != other[key]) {
        found.push_back(editor);
        break;
      }
  return found;
}

QJsonObject SpecForm::state() const {
  QJsonArray unfolded;
  for (const FieldEditor* editor : editors_)
    if (editor->advanced() && !cards_.at(editor)->folded())
      unfolded.append(QString::fromStdString(editor->field().key));
  return {{"fields", texts()}, {"unfolded", unfolded}};
}

void SpecForm::restore(const QJsonObject& state) {
  for (const QJsonValue key : state["unfolded"].toArray())
    if (FieldEditor* unfolded = editor(key.toString().toStdString()))
      cards_.at(unfolded)->set_folded(false);
  set_texts(state["fields"].toObject());
}

void SpecForm::resizeEvent(QResizeEvent* event) {
  QWidget::resizeEvent(event);
  columns_->setDirection(event->size().width() >= Theme::lines(two_columns_from) ? QBoxLayout::LeftToRight
                                                                                 : QBoxLayout::TopToBottom);
}

} // namespace batchscope::ui

#include "moc_spec_form.cpp"
