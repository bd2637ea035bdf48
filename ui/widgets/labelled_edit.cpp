#include "ui/widgets/labelled_edit.h"

#include <QCompleter>
#include <QLabel>
#include <QVBoxLayout>

#include "ui/widgets/widgets.h"

namespace batchscope::ui {

namespace {

/// Messages name the option that they are about, which the field itself says.
QString beneath_field(QString error) {
  if (!error.startsWith(QLatin1String("--")))
    return error;
  const qsizetype end = error.indexOf(QLatin1Char(' '));
  error.remove(0, end + 1);
  if (!error.isEmpty())
    error[0] = error[0].toUpper();
  return error;
}

} // namespace

LabelledEdit::LabelledEdit(const QString& name, QWidget* parent)
    : QWidget(parent), name_(dimmed_label(name, this)), edit_(new QLineEdit(this)), error_(new QLabel(this)) {
  name_->setBuddy(edit_);
  edit_->setAccessibleName(name);
  error_->setObjectName(QStringLiteral("error"));
  error_->setProperty("tone", QStringLiteral("error"));
  error_->setWordWrap(true);
  error_->hide();
  auto* layout = new QVBoxLayout(this);
  layout->setContentsMargins(0, 0, 0, 0);
  layout->setSpacing(2);
  layout->addWidget(name_);
  layout->addWidget(edit_);
  layout->addWidget(error_);
  layout->addStretch();
  setFocusProxy(edit_);
}

void LabelledEdit::set_text(const QString& text) {
  if (edit_->text() != text)
    edit_->setText(text);
}

void LabelledEdit::set_help(const QString& help) {
  setToolTip(help);
  edit_->setAccessibleDescription(help);
}

void LabelledEdit::set_choices(const QStringList& choices) {
  auto* completer = new QCompleter(choices, edit_);
  completer->setCaseSensitivity(Qt::CaseInsensitive);
  completer->setFilterMode(Qt::MatchContains);
  edit_->setCompleter(completer);
}

void LabelledEdit::set_error(const QString& error) {
  error_->setText(beneath_field(error));
  error_->setVisible(!error.isEmpty());
  mark_wrong(*edit_, !error.isEmpty());
}

QString LabelledEdit::error() const {
  return error_->text();
}

} // namespace batchscope::ui
