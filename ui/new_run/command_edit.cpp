#include "ui/new_run/command_edit.h"

#include <QEvent>
#include <QInputMethodEvent>
#include <QRegularExpression>
#include <QTextCharFormat>

namespace batchscope::ui {

CommandEdit::CommandEdit(QWidget* parent) : QLineEdit(parent) {
  connect(this, &QLineEdit::textChanged, this, &CommandEdit::highlight);
}

QList<QPair<int, int>> CommandEdit::placeholders(const QString& text) {
  static const QRegularExpression pattern(QStringLiteral("\\{\\{|\\{[\\w-]+\\}"));
  QList<QPair<int, int>> found;
  for (auto matches = pattern.globalMatch(text); matches.hasNext();) {
    const auto match = matches.next();
    if (match.capturedLength() > 2) // {{ is a brace
      found.append({static_cast<int>(match.capturedStart()), static_cast<int>(match.capturedLength())});
  }
  return found;
}

/// A line edit has no formats of its own, but shows those of an input method's text, whose places count from the
/// cursor.
void CommandEdit::highlight() {
  if (composing_)
    return;
  QTextCharFormat format;
  format.setForeground(palette().brush(QPalette::Active, QPalette::Link));
  format.setFontWeight(QFont::DemiBold);
  QList<QInputMethodEvent::Attribute> attributes;
  for (const auto& [start, length] : placeholders(text()))
    attributes.append({QInputMethodEvent::TextFormat, start - cursorPosition(), length, format});
  QInputMethodEvent event({}, attributes);
  QLineEdit::inputMethodEvent(&event);
}

void CommandEdit::changeEvent(QEvent* event) {
  QLineEdit::changeEvent(event);
  if (event->type() == QEvent::PaletteChange)
    highlight();
}

void CommandEdit::inputMethodEvent(QInputMethodEvent* event) {
  composing_ = !event->preeditString().isEmpty();
  QLineEdit::inputMethodEvent(event);
  highlight();
}

} // namespace batchscope::ui

#include "moc_command_edit.cpp"
