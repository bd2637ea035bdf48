#include <QTest>

#include "test_program.h"
#include "ui/texts/terminal_text.h"

using namespace batchscope::ui;

/// Output of programs as people read it.
class TestTerminalText : public QObject {
  Q_OBJECT

private Q_SLOTS:
  void lines_are_as_a_terminal_shows_them_data() {
    QTest::addColumn<QString>("output");
    QTest::addColumn<QStringList>("lines");
    QTest::newRow("nothing") << "" << QStringList();
    QTest::newRow("empty lines") << "\n \na\n\nb\n\n" << QStringList{"a", "", "b"};
    QTest::newRow("progress bar") << "\r 0%| |\r50%|# |\r100%|##|\r\nloss 0.5\r\n"
                                  << QStringList{"100%|##|", "loss 0.5"};
    QTest::newRow("colours") << "\x1b[1;32mepoch\x1b[0m 1\x1b[K\n\x1b]0;title\a.\x1b[A" << QStringList{"epoch 1", "."};
    QTest::newRow("controls") << QString("a\tb\b\x01"
                                         "c") +
                                     QChar(0) + "d"
                              << QStringList{"a\tbcd"};
    QTest::newRow("words") << "显存 🔥" << QStringList{"显存 🔥"};
    QTest::newRow("bars below each other") << "\r a 0%\n\r b 0%\x1b[A\n\r b 50%\x1b[A\r a 50%\n\r b 99%\x1b[A\n\nend"
                                           << QStringList{" a 50%", " b 99%", "end"};
    QTest::newRow("erased line") << "working\r\x1b[Kdone\nkept\x1b[K\ngone\x1b[2K" << QStringList{"done", "kept"};
    QTest::newRow("cursor above the top") << "a\x1b[99A\rb\nc" << QStringList{"b", "c"};
    QTest::newRow("sequences without end") << "a\x1b[12\nb\x1b]0;title\nc\x1b" << QStringList{"a", "bc"};
    QTest::newRow("other sequences") << "\x1b(Ba\x1b=b\x1bPq\x1b\\c\x1b[?25hd" << QStringList{"abcd"};
    QTest::newRow("marks of documents")
        << QString("a%1b%2c%3d").arg(QChar(0x2029)).arg(QChar(0xFDD0)).arg(QChar(0x202E))
        << QStringList{QString("a%1b%1c%1d").arg(QChar(QChar::ReplacementCharacter))};
    QTest::newRow("a very long line") << QString(TerminalText::longest_line + 1234, 'x') + "\nb"
                                      << QStringList{QString(TerminalText::longest_line, 'x') +
                                                         QString::fromUtf8(" … (1,234 more characters)"),
                                                     "b"};
  }

  void lines_are_as_a_terminal_shows_them() {
    QFETCH(QString, output);
    QTEST(terminal_lines(output), "lines");
  }

  /// However it is cut, the text is the same, and lines that went out long ago stay.
  void pieces_make_the_same_text_as_the_whole() {
    QString output;
    for (int line = 0; line < 3 * TerminalText::open_lines; ++line)
      output += QString("\x1b[3%1mline %2\x1b[0m\r\n 0%\r\x1b[K50%\n").arg(line % 8).arg(line);
    output += QString("\x1b[%1Fover").arg(TerminalText::open_lines / 2);
    const QStringList whole = terminal_lines(output);
    QCOMPARE(whole.size(), 6 * TerminalText::open_lines);
    QCOMPARE(whole[whole.size() - TerminalText::open_lines / 2], QString("over"));
    for (const int piece : {1, 2, 7, 1000}) {
      TerminalText text;
      QStringList lines;
      for (qsizetype at = 0; at < output.size(); at += piece) {
        text.write(QStringView(output).mid(at, piece));
        const TerminalText::Change change = text.take_change();
        QVERIFY(change.from <= lines.size());
        lines.resize(change.from);
        lines += change.lines;
      }
      QVERIFY(lines.last().isEmpty());
      lines.removeLast();
      QCOMPARE(lines, whole);
    }
  }

  void only_what_has_changed_is_given_out() {
    TerminalText text;
    text.write(u"a\nb");
    QCOMPARE(text.take_change().lines, QStringList({"a", "b"}));
    text.write(u"\x1b[1m");
    QVERIFY(text.take_change().lines.isEmpty());
    text.write(u"\rc");
    const TerminalText::Change change = text.take_change();
    QCOMPARE(change.from, 1);
    QCOMPARE(change.lines, QStringList("c"));
  }
};

BATCHSCOPE_TEST(TestTerminalText)
#include "tst_terminal_text.moc"
