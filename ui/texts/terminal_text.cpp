#include "ui/texts/terminal_text.h"

#include <QRegularExpression>

namespace batchscope::ui {

namespace {

QString without_controls(QString line) {
  // ESC [ ... letter, ESC ] ... BEL, or ESC and one character.
  static const QRegularExpression sequences(
      QStringLiteral("\\x1B(?:\\[[0-?]*[ -/]*[@-~]|\\][^\\x07\\x1B]*(?:\\x07|\\x1B\\\\)?|[@-Z\\\\-_])"));
  line.remove(sequences);
  line.removeIf([](QChar c) { return c.category() == QChar::Other_Control && c != u'\t'; });
  return line;
}

/// A carriage return begins the line again.
QString overwritten(const QString& line) {
  const QStringList versions = line.split(u'\r', Qt::SkipEmptyParts);
  return versions.isEmpty() ? QString() : versions.last();
}

} // namespace

QStringList terminal_lines(const QString& output) {
  QStringList lines;
  for (const QString& line : output.split(u'\n'))
    lines << without_controls(overwritten(line));
  while (!lines.isEmpty() && lines.last().trimmed().isEmpty())
    lines.removeLast();
  while (!lines.isEmpty() && lines.first().trimmed().isEmpty())
    lines.removeFirst();
  return lines;
}

} // namespace batchscope::ui
