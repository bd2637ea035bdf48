#include <QApplication>
#include <QClipboard>
#include <QDesktopServices>
#include <QFile>
#include <QLabel>
#include <QLineEdit>
#include <QPushButton>
#include <QScrollBar>
#include <QSignalSpy>
#include <QTemporaryDir>
#include <QTest>
#include <QTextBlock>
#include <QVBoxLayout>

#include <sys/stat.h>

#include "test_program.h"
#include "ui/output/output_text.h"
#include "ui/output/output_view.h"

using namespace batchscope::test;
using namespace batchscope::ui;

namespace {

constexpr int patience_ms = 60'000;

/// The output of a program in a window of its own.
class OutputHere {
public:
  OutputHere() {
    theme_.apply_to(*qApp);
    auto* layout = new QVBoxLayout(&window_);
    layout->addWidget(view.tools());
    layout->addWidget(&view);
    window_.resize(900, 300);
    window_.show();
    if (!QTest::qWaitForWindowExposed(&window_))
      qFatal("the view is not shown");
  }

  QString file() const { return folder_.path() + "/output"; }
  void write(const QByteArray& bytes, QIODevice::OpenMode mode = QIODevice::Append) const {
    QFile output(file());
    if (!output.open(QIODevice::WriteOnly | mode) || output.write(bytes) != bytes.size())
      qFatal("cannot write");
  }
  void show(bool grows, const QString& stored_end = {}) { view.show_output({file(), grows, stored_end}); }

  OutputText& text() { return *view.findChild<OutputText*>(); }
  QString lines() { return text().toPlainText(); }
  QString label(const char* name) {
    auto* label = window_.findChild<QLabel*>(name);
    return label->isVisible() ? label->text() : QString();
  }
  QPushButton* button(const QString& name) {
    for (auto* button : window_.findChildren<QPushButton*>())
      if (button->text() == name && button->isVisible())
        return button;
    return nullptr;
  }
  QLineEdit& field() { return *window_.findChild<QLineEdit*>("output-search"); }
  bool at_end() { return text().verticalScrollBar()->value() == text().verticalScrollBar()->maximum(); }
  /// Types into the search, once there is something to be found.
  void search(const QString& searched) {
    QTest::keyClick(&text(), Qt::Key_F, Qt::ControlModifier);
    QVERIFY(field().isVisible());
    QTest::keyClicks(&field(), searched);
  }

private:
  QTemporaryDir folder_;
  Theme theme_;
  QWidget window_;

public:
  OutputView& view = *new OutputView(theme_, &window_);
};

QByteArray numbered_lines(int first, int count) {
  QByteArray lines;
  for (int line = first; line < first + count; ++line)
    lines += "step " + QByteArray::number(line) + " loss 0.5\n";
  return lines;
}

} // namespace

/// What a program of the user's own writes, while it runs and afterwards.
class TestOutputView : public QObject {
  Q_OBJECT

private Q_SLOTS:
  void a_running_program_is_followed() {
    OutputHere here;
    here.show(true); // the file is made by the program
    QTRY_COMPARE_WITH_TIMEOUT(here.label("no-output"), QString("The program has written nothing yet."), patience_ms);
    here.write("");
    QCOMPARE(here.label("no-output"), QString("The program has written nothing yet."));
    here.write("epoch 1\n  0%|  |\r 50%|# |");
    QTRY_COMPARE_WITH_TIMEOUT(here.lines(), QString("epoch 1\n 50%|# |"), patience_ms);
    QCOMPARE(here.label("output-note"), QString("2 lines, 25 B"));
    here.write("\r100%|##|\n\x1b[31mred\x1b[0m \xff\n");
    QTRY_COMPARE_WITH_TIMEOUT(here.lines(), QString::fromUtf8("epoch 1\n100%|##|\nred \uFFFD"), patience_ms);
    here.write("last");
    here.show(false); // the run ended before this was read
    QTRY_VERIFY_WITH_TIMEOUT(here.lines().endsWith("last"), patience_ms);
  }

  void a_line_that_is_erased_is_empty_until_it_is_written_again() {
    OutputHere here;
    here.write("a\nworking");
    here.show(true);
    QTRY_COMPARE_WITH_TIMEOUT(here.lines(), QString("a\nworking"), patience_ms);
    here.write("\r\x1b[K");
    QTRY_COMPARE_WITH_TIMEOUT(here.lines(), QString("a\n"), patience_ms);
    here.write("done\n\n");
    QTRY_COMPARE_WITH_TIMEOUT(here.lines(), QString("a\ndone\n"), patience_ms);
    here.write("b\n");
    QTRY_COMPARE_WITH_TIMEOUT(here.lines(), QString("a\ndone\n\nb"), patience_ms);
  }

  /// More than what is read of an old output, in one line.
  void a_line_without_end_is_shown_from_within() {
    OutputHere here;
    here.write("begin" + QByteArray(3'000'000, 'x'));
    here.show(false);
    QTRY_VERIFY_WITH_TIMEOUT(here.lines().startsWith("xxx") && here.lines().endsWith(" more characters)"), patience_ms);
    QCOMPARE(here.text().line_count(), 1);
  }

  /// A character may be cut by the end of what was read.
  void characters_that_come_in_two_pieces_are_whole() {
    OutputHere here;
    here.show(true);
    here.write("loss \xe2\x82");
    QTRY_COMPARE_WITH_TIMEOUT(here.lines(), QString("loss "), patience_ms);
    here.write("\xac");
    QTRY_COMPARE_WITH_TIMEOUT(here.lines(), QString::fromUtf8("loss €"), patience_ms);
  }

  void a_file_that_was_emptied_is_read_anew() {
    OutputHere here;
    here.write("one\ntwo\n");
    here.show(true);
    QTRY_COMPARE_WITH_TIMEOUT(here.lines(), QString("one\ntwo"), patience_ms);
    here.write("3\n", QIODevice::Truncate);
    QTRY_COMPARE_WITH_TIMEOUT(here.lines(), QString("3"), patience_ms);
  }

  void it_stays_at_its_end_unless_the_user_scrolled_up() {
    OutputHere here;
    here.write(numbered_lines(0, 500));
    here.show(true);
    QTRY_VERIFY_WITH_TIMEOUT(here.lines().contains("step 499 "), patience_ms);
    QVERIFY(here.at_end());
    here.write(numbered_lines(500, 100) + QByteArray(5000, 'w') + "\n"); // of which one is wrapped
    QTRY_VERIFY_WITH_TIMEOUT(here.lines().endsWith("w"), patience_ms);
    QTRY_VERIFY_WITH_TIMEOUT(here.at_end(), patience_ms);
    here.text().verticalScrollBar()->setValue(100);
    const QString top = here.text().cursorForPosition({10, 5}).block().text();
    here.write(numbered_lines(600, 100));
    QTRY_VERIFY_WITH_TIMEOUT(here.lines().contains("step 699 "), patience_ms);
    QCOMPARE(here.text().cursorForPosition({10, 5}).block().text(), top);
    here.text().verticalScrollBar()->setValue(here.text().verticalScrollBar()->maximum());
    here.write(numbered_lines(700, 100));
    QTRY_VERIFY_WITH_TIMEOUT(here.lines().contains("step 799 "), patience_ms);
    QTRY_VERIFY_WITH_TIMEOUT(here.at_end(), patience_ms);
  }

  /// A file of 1 GB, most of which is a hole.
  void of_a_very_long_output_the_end_is_shown() {
    OutputHere here;
    here.write("first\n");
    QVERIFY(QFile::resize(here.file(), 1'000'000'000));
    here.write("\n" + numbered_lines(0, 200'000));
    here.show(false);
    QTRY_VERIFY_WITH_TIMEOUT(here.lines().endsWith("step 199999 loss 0.5"), patience_ms);
    QVERIFY(static_cast<std::uint64_t>(here.lines().size()) <= OutputReader::most_bytes);
    QVERIFY(static_cast<std::uint64_t>(here.lines().size()) > OutputReader::most_bytes / 10 * 9);
    QVERIFY(here.lines().startsWith("step ")); // a whole line
    const QString note = here.label("output-note");
    QVERIFY2(note.startsWith("Only the last ") && note.endsWith(" lines of a file of 1.0 GB are shown"),
             qPrintable(note));
    QVERIFY(here.at_end());
  }

  void lines_that_come_without_end_take_no_more_memory_than_allowed() {
    OutputHere here;
    const auto fill = [&](qint64 from, int lines) {
      QStringList texts;
      for (int i = 0; i < lines; ++i)
        texts << QString("line %1 ").arg(from + i).leftJustified(999, '.');
      here.text().replace_from(from, texts);
    };
    const int rounds = 12;
    here.text().search("line 10999 ");
    for (int round = 0; round < rounds; ++round) {
      fill(qint64{round} * 1000, 1000);
      QVERIFY(here.text().document()->characterCount() <= OutputText::most_characters);
    }
    QVERIFY(here.text().has_left_out());
    QVERIFY(here.text().line_count() >= 2000);
    QVERIFY(here.text().document()->lastBlock().text().startsWith("line 11999 "));
    QTRY_COMPARE_WITH_TIMEOUT(here.text().hit_count(), 1U, patience_ms);
    here.text().go_to_next();
    QCOMPARE(here.text().textCursor().block().text().left(11), QString("line 10999 "));
    fill(11'999, 1); // a line is replaced by its number
    QVERIFY(here.text().document()->lastBlock().text().startsWith("line 11999 "));
    here.text().search("line 11999 ");
    QCOMPARE(here.text().hit_count(), 1U);
  }

  void many_lines_are_searched_bit_by_bit() {
    OutputHere here;
    constexpr int count = 60'000;
    here.write(numbered_lines(0, count));
    here.show(false);
    QTRY_VERIFY_WITH_TIMEOUT(here.lines().endsWith("step 59999 loss 0.5"), patience_ms);
    here.text().verticalScrollBar()->setValue(0);
    here.search("loss");
    QTRY_COMPARE_WITH_TIMEOUT(here.label("output-hits"), QString("1 of 60,000"), patience_ms);
    here.search("STEP 59998"); // far below what is searched at once
    QTRY_COMPARE_WITH_TIMEOUT(here.label("output-hits"), QString("1 of 1"), patience_ms);
    QCOMPARE(here.text().textCursor().block().text(), QString("step 59998 loss 0.5"));
  }

  /// More than can be shown at once, again and again; in the end the last megabytes are there.
  void a_program_that_writes_too_fast_is_shown_up_to_its_end() {
    OutputHere here;
    here.write("begin\n");
    here.show(true);
    QTRY_COMPARE_WITH_TIMEOUT(here.lines(), QString("begin"), patience_ms);
    here.write(numbered_lines(0, 80'000));
    QTRY_VERIFY_WITH_TIMEOUT(here.lines().endsWith("step 79999 loss 0.5"), patience_ms);
    QVERIFY(here.text().line_count() < 5000); // passed over
    QVERIFY(here.label("output-note").startsWith("Only the last "));
    here.show(false);
    QTRY_VERIFY_WITH_TIMEOUT(here.lines().startsWith("begin\n") && here.lines().endsWith("step 79999 loss 0.5"),
                             patience_ms);
    QCOMPARE(here.text().line_count(), 80'001);
  }

  void nothing_is_read_while_it_is_not_seen() {
    OutputHere here;
    here.view.hide();
    QSignalSpy came(here.view.findChild<OutputReader*>(), &OutputReader::came);
    here.write("one\n");
    here.show(true);
    QTest::qWait(2 * OutputReader::interval_ms);
    QCOMPARE(came.count(), 0);
    here.view.show();
    QTRY_COMPARE_WITH_TIMEOUT(here.lines(), QString("one"), patience_ms);
  }

  void a_file_that_is_gone_is_replaced_by_its_stored_end() {
    OutputHere here;
    here.show(false, "\x1b[1mTraceback\x1b[0m\nKeyError: 'train'\n");
    QTRY_COMPARE_WITH_TIMEOUT(here.lines(), QString("Traceback\nKeyError: 'train'"), patience_ms);
    QCOMPARE(here.label("output-note"), QString("The file is gone. These last lines were stored with the run."));
    QVERIFY(here.button("Open folder") == nullptr);
    here.view.show_output({"/no/such/file", false, {}});
    QTRY_COMPARE_WITH_TIMEOUT(here.label("no-output"), QString("The output file no longer exists: /no/such/file"),
                              patience_ms);
    here.view.show_output({{}, false, "end"});
    QCOMPARE(here.lines(), QString("end"));
    here.view.show_output({{}, false, {}});
    QCOMPARE(here.label("no-output"), QString("It is not known where the program wrote its output."));
  }

  void an_empty_output_says_so() {
    OutputHere here;
    here.write("");
    here.show(false);
    QTRY_COMPARE_WITH_TIMEOUT(here.label("no-output"), QString("The program wrote nothing."), patience_ms);
    QVERIFY(!here.button("Search…")->isEnabled());
  }

  /// A run that was imported may name anything.
  void what_is_no_file_is_not_read() {
    OutputHere here;
    QCOMPARE(mkfifo(qPrintable(here.file()), 0600), 0);
    here.show(false);
    QTRY_VERIFY_WITH_TIMEOUT(here.label("no-output").endsWith("cannot be read: not a regular file"), patience_ms);
  }

  void a_text_is_searched_with_the_keyboard() {
    OutputHere here;
    here.write("Loss 1\nnothing\n" + numbered_lines(0, 300));
    here.show(true);
    QTRY_VERIFY_WITH_TIMEOUT(here.lines().contains("step 299 "), patience_ms);
    here.search("LOSS");
    QVERIFY(here.field().hasFocus());
    QVERIFY2(here.label("output-hits").endsWith(" of 301"), qPrintable(here.label("output-hits")));
    here.text().verticalScrollBar()->setValue(0);
    QTest::keyClick(&here.field(), Qt::Key_Return); // after the last, the first
    for (int i = 0; i < 301 && !here.label("output-hits").startsWith("1 of"); ++i)
      QTest::keyClick(&here.field(), Qt::Key_F3);
    QCOMPARE(here.label("output-hits"), QString("1 of 301"));
    QCOMPARE(here.text().textCursor().selectedText(), QString("Loss"));
    QTest::keyClick(&here.field(), Qt::Key_Return, Qt::ShiftModifier);
    QCOMPARE(here.label("output-hits"), QString("301 of 301"));
    QTest::keyClick(&here.text(), Qt::Key_F3, Qt::ShiftModifier);
    QCOMPARE(here.label("output-hits"), QString("300 of 301"));
    QVERIFY(here.text().extraSelections().size() > 3); // those that are seen
    here.write("one more loss\n");
    QTRY_COMPARE_WITH_TIMEOUT(here.label("output-hits"), QString("300 of 302"), patience_ms);
    QTest::keyClicks(&here.field(), " 7"); // longer: none
    QCOMPARE(here.label("output-hits"), QString("No hits"));
    QTest::keyClick(&here.field(), Qt::Key_Escape);
    QVERIFY(!here.field().isVisible());
    QVERIFY(here.text().hasFocus());
    QVERIFY(here.text().extraSelections().isEmpty());
  }

  void lines_can_be_copied() {
    OutputHere here;
    here.write("\x1b[32ma\x1b[0m\nb\n");
    here.show(false);
    QTRY_COMPARE_WITH_TIMEOUT(here.lines(), QString("a\nb"), patience_ms);
    here.text().setFocus();
    QTest::keyClick(&here.text(), Qt::Key_A, Qt::ControlModifier);
    QTest::keyClick(&here.text(), Qt::Key_C, Qt::ControlModifier);
    QCOMPARE(QApplication::clipboard()->text(), QString("a\nb"));
    QTest::keyClick(&here.text(), Qt::Key_X); // nothing can be written into it
    QCOMPARE(here.lines(), QString("a\nb"));
  }

  void the_folder_of_the_file_can_be_opened() {
    OutputHere here;
    here.write("a\n");
    here.show(false);
    QTRY_VERIFY_WITH_TIMEOUT(here.button("Open folder") != nullptr, patience_ms);
    QDesktopServices::setUrlHandler("file", this, "open");
    QTest::mouseClick(here.button("Open folder"), Qt::LeftButton);
    QDesktopServices::unsetUrlHandler("file");
    QCOMPARE(opened_ + "/output", here.file());
  }

public Q_SLOTS:
  void open(const QUrl& url) { opened_ = url.toLocalFile(); }

private:
  QString opened_;
};

BATCHSCOPE_TEST(TestOutputView)
#include "tst_output_view.moc"
