#include "ui/workbench/output_box.h"

#include <QFontDatabase>
#include <QScrollBar>

#include <algorithm>

#include "ui/texts/terminal_text.h"
#include "ui/theme/theme.h"

namespace batchscope::ui {

OutputBox::OutputBox(int most_lines, QWidget* parent) : QPlainTextEdit(parent), most_lines_(most_lines) {
  setReadOnly(true);
  setProperty("kind", QStringLiteral("code"));
  setAccessibleName(tr("Output of the program"));
  setWordWrapMode(QTextOption::WrapAtWordBoundaryOrAnywhere);
  setTabChangesFocus(true);
  QFont fixed = QFontDatabase::systemFont(QFontDatabase::FixedFont);
  fixed.setPixelSize(QFontInfo(font()).pixelSize() * 9 / 10);
  setFont(fixed);
  hide();
}

void OutputBox::show_output(const QString& output) {
  const QString text = terminal_lines(output).join(u'\n');
  setVisible(!text.isEmpty());
  if (text == toPlainText())
    return;
  setPlainText(text);
  fit();
}

void OutputBox::resizeEvent(QResizeEvent* event) {
  QPlainTextEdit::resizeEvent(event);
  fit();
}

void OutputBox::fit() {
  const int lines = static_cast<int>(document()->size().height()); // as wrapped
  const bool scrolls = lines > most_lines_;
  setVerticalScrollBarPolicy(scrolls ? Qt::ScrollBarAlwaysOn : Qt::ScrollBarAlwaysOff);
  setFixedHeight(std::clamp(lines, 1, most_lines_) * fontMetrics().lineSpacing() + Theme::lines(1.4));
  verticalScrollBar()->setValue(scrolls ? verticalScrollBar()->maximum() : 0);
}

} // namespace batchscope::ui

#include "moc_output_box.cpp"
