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

struct CardPlan {
  const char* title; ///< untranslated
  std::vector<std::string> groups;
  int column;
};

const std::vector<CardPlan>& card_plans() {
  static const std::vector<CardPlan> plans = {
      {QT_TRANSLATE_NOOP("batchscope::ui::SpecForm", "Model and data"), {"Model and data"}, 0},
      {QT_TRANSLATE_NOOP("batchscope::ui::SpecForm", "Batch size and length"), {"Batch size", "Length"}, 0},
      {QT_TRANSLATE_NOOP("batchscope::ui::SpecForm", "Optimizer and learning rate"), {"Optimizer"}, 1},
      {QT_TRANSLATE_NOOP("batchscope::ui::SpecForm", "Regularization"), {"Regularization"}, 1},
      {QT_TRANSLATE_NOOP("batchscope::ui::SpecForm", "Device"), {"Device"}, 1},
  };
  return plans;
}

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
  const std::string text = run::field_text(spec, field.key);
  const bool number = field.kind == Kind::integer || field.kind == Kind::real || field.kind == Kind::bytes;
  if (number && !is_length(field) && text == run::field_text({}, field.key))
    return {};
  return QString::fromStdString(text);
}

} // namespace

SpecForm::SpecForm(QWidget* parent) : QWidget(parent), columns_(new QBoxLayout(QBoxLayout::LeftToRight, this)) {
  columns_->setContentsMargins(0, 0, 0, 0);
  columns_->setSpacing(form_gap);
  make_cards();
  set_spec({});
}

void SpecForm::make_cards() {
  QVBoxLayout* columns[2];
  for (auto*& column : columns) {
    column = new QVBoxLayout;
    column->setSpacing(form_gap);
    columns_->addLayout(column, 1);
  }
  for (const CardPlan& plan : card_plans()) {
    auto* card = new FieldCard(tr(plan.title), this);
    for (const run::SpecField& field : run::spec_fields()) {
      const bool here = std::find(plan.groups.begin(), plan.groups.end(), field.group) != plan.groups.end();
      if (!here || editor(field.key))
        continue;
      FieldEditor* made = make_editor(field);
      card->add(made);
      cards_[made] = card;
    }
    card->finish();
    columns[plan.column]->addWidget(card);
  }
  for (auto* column : columns)
    column->addStretch();
}

FieldEditor* SpecForm::make_editor(const run::SpecField& field) {
  auto* made = is_length(field) ? new FieldEditor(tr("Length"), length_fields(), this)
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
  for (const run::SpecField& field : run::spec_fields()) {
    const QString text = text_to_show(spec, field);
    // Of alternatives, only the one that is set.
    if (!is_length(field) || !text.isEmpty())
      editor(field.key)->set_text(field.key, text);
  }
  filling_ = false;
  remarks_.clear();
  unfold_what_differs();
  check();
}

void SpecForm::unfold_what_differs() {
  const run::RunSpec standard;
  for (const auto& [editor, card] : cards_) {
    const QString text = editor->text();
    if (editor->advanced() && !text.isEmpty() && text.toStdString() != run::field_text(standard, editor->field().key))
      card->set_folded(false);
  }
}

void SpecForm::check_edited(FieldEditor* editor) {
  if (filling_)
    return;
  remarks_.erase(editor);
  check();
}

void SpecForm::check() {
  run::RunSpec spec;
  errors_.clear();
  for (FieldEditor* editor : editors_) {
    try {
      run::set_field(spec, editor->field().key, editor->text().toStdString());
    } catch (const Error& error) {
      errors_[editor] = without_option(QString::fromUtf8(error.what()));
    }
  }
  for (const auto& [key, message] : run::check_fields(spec))
    errors_.try_emplace(editor(key), without_option(QString::fromStdString(message)));
  spec_ = errors_.empty() ? std::optional(spec) : std::nullopt;
  show_errors();
  show_placeholders(spec);
  Q_EMIT changed();
}

void SpecForm::show_errors() {
  for (FieldEditor* editor : editors_) {
    const auto error = errors_.find(editor);
    const auto remark = remarks_.find(editor);
    const QString text = error != errors_.end() ? error->second : remark != remarks_.end() ? remark->second : QString();
    if (text != editor->error())
      editor->set_error(text);
  }
  for (FieldCard* card : findChildren<FieldCard*>())
    card->show_errors();
}

void SpecForm::show_placeholders(const run::RunSpec& spec) {
  for (FieldEditor* editor : editors_) {
    const std::string& key = editor->field().key;
    run::RunSpec unset = spec;
    run::set_field(unset, key, {});
    editor->set_placeholder(field_translation(run::field_shown(unset, key)));
  }
}

void SpecForm::remark(const std::string& key, const QString& message) {
  remarks_[editor(key)] = without_option(message);
  show_errors();
  unfold(editor(key));
}

void SpecForm::unfold(const FieldEditor* editor) {
  if (editor->advanced())
    cards_.at(editor)->set_folded(false);
}

void SpecForm::go_to_error() {
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
  for (FieldEditor* changed : differing(this->texts(), texts)) {
    remarks_.erase(changed);
    unfold(changed);
  }
  filling_ = true;
  for (const run::SpecField& field : run::spec_fields())
    if (const QJsonValue text = texts[QString::fromStdString(field.key)]; text.isString())
      editor(field.key)->set_text(field.key, text.toString());
  filling_ = false;
  check();
}

std::vector<FieldEditor*> SpecForm::differing(const QJsonObject& one, const QJsonObject& other) const {
  std::vector<FieldEditor*> found;
  for (FieldEditor* editor : editors_)
    for (const run::SpecField& field : run::spec_fields())
      if (const QString key = QString::fromStdString(field.key); editor->edits(field.key) && one[key] != other[key]) {
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
