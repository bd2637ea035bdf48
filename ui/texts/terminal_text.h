#pragma once

#include <QList>
#include <QString>
#include <QStringList>

namespace batchscope::ui {

/// Output of a program as a terminal shows it, made from pieces of any size: without colours and control characters; of
/// a progress bar, only its last state. Movements of the cursor to lines above are followed, as several bars below each
/// other need. Characters with a meaning for QTextDocument or for the direction of text are replaced by U+FFFD.
class TerminalText {
public:
  /// Lines at the end that the program can still change; those above stay.
  static constexpr qsizetype open_lines = 100;
  /// In characters; the rest of a longer line is counted and left out.
  static constexpr qsizetype longest_line = 10'000;

  /// Lines from number `from` on, counted from 0, are now these. The last one is the one that is being written.
  struct Change {
    qint64 from = 0;
    QStringList lines;
  };

  void write(QStringView text);
  /// Returns the changes since the last call.
  Change take_change();

private:
  struct Line {
    QString text;
    qint64 left_out = 0; ///< characters
  };
  enum class State { text, escape, sequence, string, string_escape, one_more };

  void take(QChar c);
  void take_text(QChar c);
  void begin_escape(QChar c);
  void continue_sequence(QChar c);
  void apply_sequence(QChar last);
  void put(QChar c);
  void end_line();
  void move_up(qint64 lines);
  void clear_line();
  void touch();

  QList<Line> lines_{Line()}; ///< that can still change
  qint64 first_ = 0;          ///< number of the first of them
  qsizetype row_ = 0;         ///< of the cursor, in lines_
  bool overwrites_ = false;   ///< the next character replaces the line: after a carriage return
  qsizetype touched_ = 0;     ///< first line that has changed, in lines_
  State state_ = State::text;
  QString sequence_; ///< parameters of an escape sequence
};

/// The lines of a program's output as a terminal shows them in the end. No empty lines at either end.
QStringList terminal_lines(const QString& output);

} // namespace batchscope::ui
