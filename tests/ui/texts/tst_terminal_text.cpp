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
  }

  void lines_are_as_a_terminal_shows_them() {
    QFETCH(QString, output);
    QTEST(terminal_lines(output), "lines");
  }
};

BATCHSCOPE_TEST(TestTerminalText)
#include "tst_terminal_text.moc"
