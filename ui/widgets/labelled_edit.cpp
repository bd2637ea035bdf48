#include "ui/widgets/labelled_edit.h"

#include <QCompleter>
#include <QLabel>
#include <QRegularExpression>
#include <QStringListModel>
#include <QVBoxLayout>

#include "ui/theme/theme.h"
#include "ui/widgets/note_line.h"
#include "ui/widgets/widgets.h"

namespace batchscope::ui {

namespace {

/// `"-5" is not accepted; accepted: a whole number, at least 1` becomes `Enter a whole number, 1 or more`: what was
/// typed stands above. Of several parts, the error goes on saying which of them is wrong. Other texts stay.
QString as_request(const QString& error, const QString& typed) {
  static const QRegularExpression form(QStringLiteral("^(?:\".*\"|\\S+) is not accepted; accepted: (.+)$"));
  static const QRegularExpression parts(QStringLiteral("[,;\\n]"));
  const QRegularExpressionMatch match = form.match(error);
  if (typed.isEmpty() || typed.contains(parts) || !match.hasMatch())
    return error;
  QString accepted = match.captured(1);
  static const QRegularExpression range(QStringLiteral(",? at least (\\S+) and below "));
  accepted.replace(range, QStringLiteral(" from \\1 to below "));
  static const QRegularExpression at_least(QStringLiteral("\\bat least (-?\\d\\S*?)(?=[,;)]?(?:\\s|$))"));
  accepted.replace(at_least, QStringLiteral("\\1 or more"));
  accepted.replace(QLatin1String(", above "), QLatin1String(" above "));
  static const QRegularExpression something(QStringLiteral("^(an? |the )"));
  return something.match(accepted).hasMatch() ? LabelledEdit::tr("Enter %1").arg(accepted)
                                              : LabelledEdit::tr("Accepted: %1").arg(accepted);
}

} // namespace

QString without_option(QString error, const QString& typed) {
  const qsizetype end = error.indexOf(QLatin1Char(' '));
  if (end < 0 || !error.startsWith(QLatin1String("--")))
    return error;
  const bool whole = error[end - 1] == QLatin1Char(':'); // else it is about a part of the field's text
  error.remove(0, end + 1);
  if (whole)
    error = as_request(error, typed);
  const bool quotes_what_was_typed = error.section(QLatin1Char(' '), 1).startsWith(QLatin1String("is not accepted"));
  if (whole && !error.isEmpty() && !quotes_what_was_typed)
    error[0] = error[0].toUpper();
  return error;
}

LabelledEdit::LabelledEdit(const QString& name, QWidget* parent)
    : QWidget(parent), name_(dimmed_label(name, this)), edit_(new QLineEdit(this)),
      beneath_(new NoteLine(*edit_, this)) {
  name_->setBuddy(edit_);
  edit_->setAccessibleName(name);
  edit_->setMinimumWidth(Theme::lines(4.8));
  beneath_->setObjectName(QStringLiteral("error"));
  auto* layout = new QVBoxLayout(this);
  layout->setContentsMargins(0, 0, 0, 0);
  layout->setSpacing(2);
  layout->addWidget(name_);
  layout->addWidget(edit_);
  layout->addWidget(beneath_);
  layout->addStretch();
  setFocusProxy(edit_);
}

void LabelledEdit::set_text(const QString& text) {
  if (edit_->text() != text)
    edit_->setText(text);
}

void LabelledEdit::set_help(const QString& help) {
  help_ = help;
  setToolTip(help);
  set_error(error_);
}

void LabelledEdit::set_hint(const QString& hint) {
  hint_ = hint;
  set_error(error_);
}

void LabelledEdit::set_choices(const QStringList& choices) {
  if (choices_ == nullptr) {
    choices_ = new QStringListModel(this);
    auto* completer = new QCompleter(choices_, edit_);
    completer->setCaseSensitivity(Qt::CaseInsensitive);
    completer->setFilterMode(Qt::MatchContains);
    connect(completer, qOverload<const QString&>(&QCompleter::activated), this, [this](const QString& text) {
      edit_->setText(text);
      Q_EMIT edit_->textEdited(text);
    });
    edit_->setCompleter(completer);
  }
  if (choices != choices_->stringList())
    choices_->setStringList(choices);
}

void LabelledEdit::set_error(const QString& error) {
  error_ = without_option(error, edit_->text());
  const QString named = name_->text() + QStringLiteral(": "); // the name is shown above
  if (error_.startsWith(named, Qt::CaseInsensitive))
    error_ = as_request(error_.mid(named.size()), edit_->text());
  const bool wrong = !error_.isEmpty();
  beneath_->show_note(wrong ? error_ : hint_, wrong);
  edit_->setAccessibleDescription(wrong ? error_ : help_);
  mark_wrong(*edit_, wrong);
}

} // namespace batchscope::ui

#include "moc_labelled_edit.cpp"
