#include "ui/output/output_text.h"

#include <QFontDatabase>
#include <QScopedValueRollback>
#include <QScrollBar>

#include <algorithm>

namespace batchscope::ui {

namespace {

constexpr int tab_columns = 8;
constexpr int lines_at_once = 5'000; ///< that are searched, in some milliseconds

} // namespace

OutputText::OutputText(const Theme& theme, QWidget* parent) : QPlainTextEdit(parent), theme_(theme) {
  setReadOnly(true);
  setTextInteractionFlags(Qt::TextSelectableByMouse | Qt::TextSelectableByKeyboard);
  setUndoRedoEnabled(false);
  setProperty("kind", QStringLiteral("log"));
  setFrameShape(QFrame::NoFrame);
  setAccessibleName(tr("Output of the program"));
  setWordWrapMode(QTextOption::WrapAtWordBoundaryOrAnywhere);
  QFont fixed = QFontDatabase::systemFont(QFontDatabase::FixedFont);
  fixed.setPixelSize(QFontInfo(font()).pixelSize() * 9 / 10);
  setFont(fixed);
  setTabStopDistance(QFontMetricsF(fixed).horizontalAdvance(u' ') * tab_columns);
  connect(verticalScrollBar(), &QScrollBar::valueChanged, this, [this](int value) {
    if (!changing_)
      follows_ = value >= verticalScrollBar()->maximum();
    mark_hits();
  });
  // Lines are wrapped, and counted, when they are seen.
  connect(verticalScrollBar(), &QScrollBar::rangeChanged, this, &OutputText::scroll);
  connect(&theme_, &Theme::changed, this, &OutputText::mark_hits);
  more_.setSingleShot(true);
  connect(&more_, &QTimer::timeout, this, &OutputText::search_more);
}

void OutputText::clear_lines() {
  const QScopedValueRollback guard(changing_, true);
  hits_.drop_from(0);
  clear();
  first_ = 0;
  searched_to_ = 0;
  follows_ = true;
  Q_EMIT hits_changed();
}

void OutputText::replace_from(qint64 from, const QStringList& lines) {
  QStringList here = from >= first_ ? lines : lines.mid(std::min(first_ - from, qint64{lines.size()}));
  from = std::max(from, first_);
  const bool known = from - first_ < document()->blockCount();
  if (!here.isEmpty() && here.last().isEmpty() && (here.size() > 1 || !known))
    here.removeLast(); // nothing was written to it yet
  if (here.isEmpty())
    return;
  const QScopedValueRollback guard(changing_, true);
  const QTextBlock top = firstVisibleBlock(); // stays valid while lines above it are removed
  write(from, here);
  leave_out_first_lines();
  if (!follows_ && top.isValid())
    verticalScrollBar()->setValue(top.firstLineNumber());
  scroll();
  search_more();
}

void OutputText::write(qint64 from, const QStringList& lines) {
  QTextCursor cursor(document());
  const QTextBlock block = document()->findBlockByNumber(static_cast<int>(from - first_));
  cursor.movePosition(QTextCursor::End);
  if (block.isValid())
    cursor.setPosition(block.position(), QTextCursor::KeepAnchor);
  cursor.insertText(block.isValid() ? lines.join(u'\n') : u'\n' + lines.join(u'\n'));
  hits_.drop_from(from);
  searched_to_ = std::min(searched_to_, from);
}

/// More at once than necessary, so that it is seldom done.
void OutputText::leave_out_first_lines() {
  const int characters = document()->characterCount();
  if (characters <= most_characters)
    return;
  const QTextBlock first = document()->findBlock(characters - most_characters / 20 * 19);
  const int lines = first.blockNumber();
  QTextCursor cursor(document());
  cursor.setPosition(first.position(), QTextCursor::KeepAnchor);
  cursor.removeSelectedText();
  first_ += lines;
  hits_.drop_before(first_);
  searched_to_ = std::max(searched_to_, first_);
}

void OutputText::scroll() {
  if (!follows_)
    return;
  const QScopedValueRollback guard(changing_, true);
  verticalScrollBar()->setValue(verticalScrollBar()->maximum());
}

qint64 OutputText::line_count() const {
  return document()->blockCount() - (document()->lastBlock().length() > 1 ? 0 : 1);
}

void OutputText::search(const QString& text) {
  hits_.set_text(text);
  searched_to_ = first_;
  wants_hit_ = false;
  search_more();
}

void OutputText::search_more() {
  more_.stop();
  QTextBlock block = document()->findBlockByNumber(static_cast<int>(searched_to_ - first_));
  for (int i = 0; i < lines_at_once && block.isValid() && !hits_.text().isEmpty(); ++i, block = block.next())
    hits_.add(searched_to_++, block.text());
  if (block.isValid() && !hits_.text().isEmpty())
    more_.start();
  mark_hits();
  Q_EMIT hits_changed();
  if (wants_hit_)
    go_to_nearest();
}

/// Without a selection, the first line that is seen.
LineHits::Hit OutputText::place_of_selection() const {
  const QTextCursor cursor = textCursor();
  if (!cursor.hasSelection())
    return {number_of(firstVisibleBlock()), 0};
  const QTextBlock block = document()->findBlock(cursor.selectionStart());
  return {number_of(block), cursor.selectionStart() - block.position()};
}

std::optional<std::size_t> OutputText::current_hit() const {
  const LineHits::Hit place = place_of_selection();
  const auto hit = hits_.at_or_after(place);
  const bool selected = hit && textCursor().selectedText().size() == hits_.text().size() && hits_.all()[*hit] == place;
  return selected ? hit : std::nullopt;
}

void OutputText::go_to_nearest() {
  const LineHits::Hit place = place_of_selection();
  const auto hit = hits_.at_or_after(place);
  wants_hit_ = more_.isActive() && (!hit || hits_.all()[*hit] < place); // there may be one below
  if (!wants_hit_)
    go_to(hit);
}

void OutputText::go_to_next() {
  LineHits::Hit place = place_of_selection();
  if (textCursor().hasSelection())
    ++place.column;
  go_to(hits_.at_or_after(place));
}

void OutputText::go_to_previous() {
  go_to(hits_.before(place_of_selection()));
}

void OutputText::go_to(std::optional<std::size_t> hit) {
  if (!hit)
    return;
  const auto& [line, column] = hits_.all()[*hit];
  const int start =
      document()->findBlockByNumber(static_cast<int>(line - first_)).position() + static_cast<int>(column);
  QTextCursor cursor(document());
  cursor.setPosition(start);
  cursor.setPosition(start + static_cast<int>(hits_.text().size()), QTextCursor::KeepAnchor);
  setTextCursor(cursor);
  Q_EMIT hits_changed();
}

/// Marks the hits in the visible lines.
void OutputText::mark_hits() {
  QList<QTextEdit::ExtraSelection> marks;
  QTextBlock block = firstVisibleBlock();
  const auto& hits = hits_.all();
  auto hit = std::lower_bound(hits.begin(), hits.end(), LineHits::Hit{number_of(block), 0});
  QTextEdit::ExtraSelection mark;
  mark.format.setBackground(theme_.color(Role::chosen));
  mark.format.setForeground(theme_.color(Role::accent));
  mark.cursor = QTextCursor(document());
  const auto seen = [this](const QTextBlock& place) {
    return place.isValid() && blockBoundingGeometry(place).translated(contentOffset()).top() <= viewport()->height();
  };
  for (; hit != hits.end() && seen(block); block = block.next()) {
    for (; hit != hits.end() && hit->line == number_of(block); ++hit) {
      mark.cursor.setPosition(block.position() + static_cast<int>(hit->column));
      mark.cursor.setPosition(mark.cursor.position() + static_cast<int>(hits_.text().size()), QTextCursor::KeepAnchor);
      marks << mark;
    }
  }
  if (!marks.isEmpty() || !extraSelections().isEmpty())
    setExtraSelections(marks);
}

void OutputText::resizeEvent(QResizeEvent* event) {
  QPlainTextEdit::resizeEvent(event);
  scroll();
  mark_hits();
}

} // namespace batchscope::ui

#include "moc_output_text.cpp"
