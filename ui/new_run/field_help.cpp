#include "ui/new_run/field_help.h"

#include <QFontDatabase>
#include <QVBoxLayout>

#include <algorithm>

#include "core/schedule/batch_schedule.h"
#include "ui/texts/spec_texts.h"
#include "ui/theme/theme.h"

namespace batchscope::ui {

namespace {

constexpr double width_lines = 17.5; ///< maximum width of forms

/// Splits into lines of at most `columns` characters, after commas and before optional parts.
QString broken(const QString& form, int columns) {
  constexpr QLatin1String indent("  ");
  QString text;
  QString rest = form;
  while (rest.size() > columns) {
    const qsizetype at = std::max({rest.lastIndexOf(u',', columns - 1) + 1, rest.lastIndexOf(u'[', columns - 1),
                                   rest.lastIndexOf(u'|', columns - 1)});
    if (at <= indent.size())
      break;
    text += rest.left(at) + u'\n';
    rest = indent + rest.mid(at);
  }
  return text + rest;
}

/// Allows line breaks after commas: forms such as idx:IMAGES,LABELS are wider than the card.
QString breakable(QString text) {
  return text.replace(u',', QStringLiteral(",\u200b"));
}

std::vector<std::string> forms_of(const run::SpecField& field) {
  return field.key == "schedule" ? schedule::schedule_forms() : field.choices;
}

} // namespace

FieldHelp::FieldHelp(QWidget* parent)
    : Card(tr("About this field"), parent), help_(new QLabel(this)), facts_(new QLabel(this)),
      forms_title_(dimmed_label({}, this)), forms_(new QLabel(this)) {
  help_->setWordWrap(true);
  help_->setTextFormat(Qt::PlainText);
  facts_->setWordWrap(true);
  facts_->setTextFormat(Qt::PlainText);
  facts_->setProperty("kind", QStringLiteral("dimmed"));
  forms_->setTextFormat(Qt::PlainText);
  forms_->setTextInteractionFlags(Qt::TextSelectableByMouse);
  QFont fixed = QFontDatabase::systemFont(QFontDatabase::FixedFont);
  fixed.setPixelSize(QFontInfo(font()).pixelSize() * 9 / 10);
  forms_->setFont(fixed);
  body()->addWidget(help_);
  body()->addWidget(facts_);
  body()->addWidget(forms_title_);
  body()->addWidget(forms_);
}

void FieldHelp::show_field(const run::SpecField& field) {
  set_title(field_translation(field.label));
  help_->setText(breakable(field_translation(field.help)) + u'.');
  QStringList facts;
  const auto add = [&](const QString& name, const QString& value) {
    if (!value.isEmpty())
      facts.append(QStringLiteral("%1: %2").arg(name, value));
  };
  add(tr("Unit"), field_translation(field.unit));
  add(tr("Range"), field_translation(field.range));
  add(tr("Default"), field_translation(field.default_text));
  add(tr("Option"), QString::fromStdString(field.option));
  facts_->setText(facts.join(u'\n'));
  const int columns = Theme::lines(width_lines) / QFontMetrics(forms_->font()).horizontalAdvance(u'x');
  QStringList forms;
  for (const std::string& form : forms_of(field))
    forms.append(broken(QString::fromStdString(form), columns));
  forms_title_->setText(field.kind == run::SpecField::Kind::choice ? tr("one of") : tr("examples"));
  forms_title_->setVisible(!forms.isEmpty());
  forms_->setText(forms.join(u'\n'));
  forms_->setVisible(!forms.isEmpty());
}

} // namespace batchscope::ui

#include "moc_field_help.cpp"
