#include "ui/texts/terminal_text.h"

#include <QCoreApplication>

#include <algorithm>
#include <utility>

#include "ui/widgets/format.h"

namespace batchscope::ui {

namespace {

constexpr QChar escape(0x1B);
constexpr qsizetype longest_sequence = 64; ///< characters; what is longer is text

/// QTextDocument's own marks, ends of paragraphs, and what turns the direction of the text after it.
bool is_unsafe(QChar c) {
  const char16_t code = c.unicode();
  return code == 0x2028 || code == 0x2029 || (code >= 0x202A && code <= 0x202E) || (code >= 0x2066 && code <= 0x2069) ||
         (code >= 0xFDD0 && code <= 0xFDEF) || code >= 0xFFFC;
}

} // namespace

void TerminalText::write(QStringView text) {
  for (const QChar c : text)
    take(c);
}

TerminalText::Change TerminalText::take_change() {
  Change change{first_ + touched_, {}};
  for (qsizetype i = touched_; i < lines_.size(); ++i) {
    const Line& line = lines_[i];
    change.lines << (line.left_out == 0 ? line.text
                                        : QCoreApplication::translate("TerminalText", "%1 … (%2 more characters)")
                                              .arg(line.text, format_count(line.left_out)));
  }
  touched_ = lines_.size();
  if (const qsizetype done = std::min(lines_.size() - open_lines, row_); done > 0) {
    lines_.remove(0, done);
    first_ += done;
    row_ -= done;
    touched_ -= done;
  }
  return change;
}

void TerminalText::take(QChar c) {
  switch (state_) {
  case State::text:
    return take_text(c);
  case State::escape:
    return begin_escape(c);
  case State::sequence:
    return continue_sequence(c);
  case State::string:
    if (c == u'\a' || c == u'\n')
      state_ = State::text;
    else if (c == escape)
      state_ = State::string_escape;
    return;
  case State::string_escape:
    state_ = State::text;
    if (c != u'\\')
      begin_escape(c);
    return;
  case State::one_more:
    state_ = State::text;
    if (c == u'\n')
      take_text(c);
    return;
  }
}

void TerminalText::take_text(QChar c) {
  if (c == u'\n')
    end_line();
  else if (c == u'\r')
    overwrites_ = true;
  else if (c == escape)
    state_ = State::escape;
  else if (c == u'\t' || c.category() != QChar::Other_Control)
    put(is_unsafe(c) ? QChar(QChar::ReplacementCharacter) : c);
}

/// ESC [ ... letter, ESC ] ... BEL and the like, ESC ( and one character, or ESC and one character.
void TerminalText::begin_escape(QChar c) {
  state_ = State::text;
  sequence_.clear();
  if (c == u'[')
    state_ = State::sequence;
  else if (c == u']' || c == u'P' || c == u'X' || c == u'^' || c == u'_')
    state_ = State::string;
  else if (c >= u' ' && c <= u'/')
    state_ = State::one_more;
  else if (c < u'0' || c > u'~')
    take_text(c);
}

void TerminalText::continue_sequence(QChar c) {
  if (c >= u' ' && c <= u'?' && sequence_.size() < longest_sequence) {
    sequence_ += c;
    return;
  }
  state_ = State::text;
  if (c >= u'@' && c <= u'~')
    apply_sequence(c);
  else
    take_text(c);
}

void TerminalText::apply_sequence(QChar last) {
  const auto count = [this] { return std::max(sequence_.toLongLong(), 1LL); };
  if (last == u'A')
    move_up(count());
  else if (last == u'F') {
    move_up(count());
    overwrites_ = true;
  } else if (last == u'K' && (overwrites_ || sequence_ == QLatin1String("2"))) {
    clear_line();
  }
}

void TerminalText::put(QChar c) {
  if (std::exchange(overwrites_, false))
    clear_line();
  touch();
  Line& line = lines_[row_];
  if (line.text.size() < longest_line)
    line.text += c;
  else
    ++line.left_out;
}

void TerminalText::end_line() {
  touch();
  overwrites_ = false;
  if (++row_ == lines_.size())
    lines_.append(Line());
}

void TerminalText::move_up(qint64 lines) {
  row_ -= std::min<qint64>(lines, row_);
}

void TerminalText::clear_line() {
  touch();
  lines_[row_] = {};
}

void TerminalText::touch() {
  touched_ = std::min(touched_, row_);
}

QStringList terminal_lines(const QString& output) {
  TerminalText text;
  text.write(output);
  QStringList lines = text.take_change().lines;
  while (!lines.isEmpty() && lines.last().trimmed().isEmpty())
    lines.removeLast();
  while (!lines.isEmpty() && lines.first().trimmed().isEmpty())
    lines.removeFirst();
  return lines;
}

} // namespace batchscope::ui
