#include "ui/widgets/key_sheet.h"

#include <memory>

#include <QAction>
#include <QLabel>
#include <QLineEdit>
#include <QScrollArea>
#include <QScrollBar>
#include <QTest>

#include "test_program.h"
#include "ui/theme/theme.h"

using namespace batchscope::ui;

class KeySheetTest : public QObject {
  Q_OBJECT

private Q_SLOTS:
  void initTestCase() { theme_.apply_to(*qApp); }

  void init() {
    window_ = std::make_unique<QWidget>();
    window_->setGeometry(40, 30, 900, 600);
    window_->show();
    QVERIFY(QTest::qWaitForWindowExposed(window_.get()));
    sheet_ = new KeySheet(window_.get());
    sheet_->open_with({{"Anywhere", {{"Ctrl+K", "All commands"}, {"?", "Keys"}}},
                       {"Plots", {{"Left, Right", "Move the view"}, {"C", "Set a cursor"}}}});
  }

  void showsAllLines() {
    QVERIFY(sheet_->isVisible());
    QVERIFY(window_->geometry().contains(sheet_->geometry()));
    QCOMPARE(qApp->focusWidget(), filter());
    QCOMPARE(texts(), QStringList({"Anywhere", "Ctrl+K", "All commands", "?", "Keys", "Plots", "Left, Right",
                                   "Move the view", "C", "Set a cursor"}));
  }

  void typingKeepsWhatMatches() {
    QTest::keyClicks(filter(), "plots view");
    QCOMPARE(texts(), QStringList({"Plots", "Left, Right", "Move the view"}));
    filter()->clear();
    QTest::keyClicks(filter(), "ctrl+k");
    QCOMPARE(texts(), QStringList({"Anywhere", "Ctrl+K", "All commands"}));
    QTest::keyClicks(filter(), " zz");
    QCOMPARE(texts(), QStringList());
    QVERIFY(!sheet_->findChild<QScrollArea*>()->isVisible());
    filter()->clear();
    QCOMPARE(texts().size(), 10);
  }

  void keysPutItAway() {
    QTest::keyClick(filter(), Qt::Key_Escape);
    QVERIFY(!sheet_->isVisible());
    sheet_->open_with({{"Anywhere", {{"?", "Keys"}}}});
    QTest::keyClick(filter(), Qt::Key_Question); // the key that opened it
    QVERIFY(!sheet_->isVisible());
  }

  void arrowsScroll() {
    QList<KeyHelp> many;
    for (int i = 0; i < 200; ++i)
      many.append({QString("Ctrl+%1").arg(i), QString("Command %1").arg(i)});
    sheet_->open_with({{"Anywhere", many}});
    const QScrollBar* bar = sheet_->findChild<QScrollArea*>()->verticalScrollBar();
    QTRY_VERIFY(bar->maximum() > 0);
    QTest::keyClick(filter(), Qt::Key_Down);
    const int one = bar->value();
    QVERIFY(one > 0);
    QTest::keyClick(filter(), Qt::Key_PageDown);
    QVERIFY(bar->value() > one);
    QTest::keyClick(filter(), Qt::Key_PageUp);
    QTest::keyClick(filter(), Qt::Key_Up);
    QCOMPARE(bar->value(), 0);
  }

  void linesComeFromActions() {
    QAction both("&Quit && leave"), none("No keys"), hidden("Hidden");
    both.setShortcuts({QKeySequence("Ctrl+Q"), QKeySequence("Alt+F4")});
    hidden.setShortcut(QKeySequence("Ctrl+H"));
    hidden.setVisible(false);
    const auto help = keys_of({&both, &none, &hidden});
    QCOMPARE(help.size(), 1);
    QCOMPARE(help[0].keys, "Ctrl+Q, Alt+F4");
    QCOMPARE(help[0].what, "Quit & leave");
  }

private:
  QLineEdit* filter() { return sheet_->findChild<QLineEdit*>(); }
  QStringList texts() {
    QStringList all;
    for (const QLabel* label : sheet_->findChild<QScrollArea*>()->findChildren<QLabel*>())
      if (label->isVisible())
        all.append(label->text());
    return all;
  }

  Theme theme_;
  std::unique_ptr<QWidget> window_;
  KeySheet* sheet_ = nullptr;
};

BATCHSCOPE_TEST(KeySheetTest)
#include "tst_key_sheet.moc"
