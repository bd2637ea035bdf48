#include <memory>

#include <QAbstractItemModelTester>
#include <QAction>
#include <QApplication>
#include <QLabel>
#include <QLineEdit>
#include <QListView>
#include <QSignalSpy>
#include <QStandardItemModel>
#include <QTest>

#include "test_program.h"
#include "ui/theme/theme.h"
#include "ui/widgets/command_filter.h"
#include "ui/widgets/command_palette.h"
#include "ui/widgets/commands.h"

using namespace batchscope::ui;

class CommandPaletteTest : public QObject {
  Q_OBJECT

private Q_SLOTS:
  void initTestCase() { theme_.apply_to(*qApp); }

  void init() {
    window_ = std::make_unique<QWidget>();
    window_->setGeometry(50, 40, 1200, 800);
    window_->show();
    QVERIFY(QTest::qWaitForWindowExposed(window_.get()));
    for (const char* text : {"&Pause", "Stop the run", "Follow the newest", "Save && close", "Log scale of the loss"})
      actions_.append(new QAction(text, window_.get()));
    actions_[0]->setShortcut(QKeySequence("Ctrl+."));
    palette_ = new CommandPalette(theme_, window_.get());
    tester_ = std::make_unique<QAbstractItemModelTester>(list()->model());
  }

  void cleanup() {
    tester_.reset();
    actions_.clear();
    window_.reset();
  }

  void showsWhatThereIs() {
    allow(*actions_[0], true, "The run is over");
    actions_[2]->setVisible(false);
    palette_->open_with(actions_);
    QCOMPARE(shown(), QStringList({"Pause", "Stop the run", "Save & close", "Log scale of the loss"}));
    QCOMPARE(list()->model()->index(0, 0).data(Qt::AccessibleTextRole).toString(), "Pause, Ctrl+.");
    QCOMPARE(qApp->focusWidget(), filter());
    // Over the upper part of its window, in its middle.
    const QPoint middle = palette_->geometry().center();
    QVERIFY(std::abs(middle.x() - window_->geometry().center().x()) < 10);
    QVERIFY(palette_->geometry().top() < window_->geometry().top() + window_->height() / 3);
    QVERIFY(window_->geometry().contains(palette_->geometry()));
  }

  void saysWhyACommandCannotBeTriggered() {
    allow(*actions_[0], false, "The run is over");
    actions_[4]->setEnabled(false);
    QSignalSpy pause(actions_[0], &QAction::triggered);
    palette_->open_with(actions_);
    // Behind the others that match as well.
    QCOMPARE(shown(),
             QStringList({"Stop the run", "Follow the newest", "Save & close", "Pause", "Log scale of the loss"}));
    const auto said = [this](int row) {
      return list()->model()->index(row, 0).data(Qt::AccessibleTextRole).toString();
    };
    QCOMPARE(said(3), "Pause, The run is over");
    QCOMPARE(said(4), "Log scale of the loss, Not available now");
    // It is painted differently, and Enter leaves the list open with the reason.
    const QRect row = list()->visualRect(list()->model()->index(3, 0));
    const QImage dimmed = list()->viewport()->grab(row).toImage();
    QTest::keyClicks(filter(), "pause");
    QCOMPARE(shown(), QStringList({"Pause"}));
    QTest::keyClick(filter(), Qt::Key_Return);
    QVERIFY(palette_->isVisible());
    QCOMPARE(pause.count(), 0);
    palette_->reject();
    allow(*actions_[0], true, {});
    palette_->open_with(actions_);
    QVERIFY(list()->viewport()->grab(list()->visualRect(list()->model()->index(0, 0))).toImage() != dimmed);
    QTest::keyClicks(filter(), "pause");
    QTest::keyClick(filter(), Qt::Key_Return);
    QCOMPARE(pause.count(), 1);
  }

  void buttonsSayWhyTheyAreDisabled() {
    actions_[0]->setToolTip("Pause or continue");
    QPushButton* button = bind(new QPushButton(window_.get()), actions_[0]);
    allow(*actions_[0], false, "No run is open");
    QVERIFY(!button->isEnabled());
    QCOMPARE(button->toolTip(), "Pause or continue\nNo run is open");
    allow(*actions_[0], false, "The run is over");
    QCOMPARE(button->toolTip(), "Pause or continue\nThe run is over");
    QCOMPARE(why_not(*actions_[0]), "The run is over");
    allow(*actions_[0], true, "The run is over");
    QCOMPARE(button->toolTip(), "Pause or continue");
    QCOMPARE(why_not(*actions_[0]), QString());
  }

  void saysWhereACommandBelongs() {
    actions_[0]->setProperty(CommandPalette::place_property, "Live");
    palette_->open_with(actions_);
    QCOMPARE(shown().first(), "Live: Pause");
    QTest::keyClicks(filter(), "pause live");
    QCOMPARE(shown(), QStringList({"Live: Pause"}));
  }

  void findsByOtherWords() {
    actions_[3]->setProperty(CommandPalette::keywords_property, "disk loss");
    palette_->open_with(actions_);
    QTest::keyClicks(filter(), "disk");
    QCOMPARE(shown(), QStringList({"Save & close"}));
    filter()->clear();
    QTest::keyClicks(filter(), "loss"); // behind the one that has the word itself
    QCOMPARE(shown(), QStringList({"Log scale of the loss", "Save & close"}));
  }

  void findsWordsInAnyOrder() {
    palette_->open_with(actions_);
    QTest::keyClicks(filter(), "loss log");
    QCOMPARE(shown(), QStringList({"Log scale of the loss"}));
    filter()->clear();
    // Where a word begins counts more than inside of one, as in Pause.
    QTest::keyClicks(filter(), "s");
    QCOMPARE(shown().first(), "Stop the run");
    filter()->clear();
    QTest::keyClicks(filter(), "xyzzy");
    QCOMPARE(shown(), QStringList());
    QVERIFY(!list()->isVisible());
    QTest::keyClick(filter(), Qt::Key_Return);
    QVERIFY(palette_->isVisible());
  }

  void scoresMatches_data() {
    QTest::addColumn<QString>("text");
    QTest::addColumn<QString>("words");
    QTest::addColumn<int>("score");
    QTest::newRow("nothing typed") << "Pause"
                                   << "" << 0;
    QTest::newRow("begins") << "Pause"
                            << "pa" << 0;
    QTest::newRow("inside") << "Pause"
                            << "use" << 1;
    QTest::newRow("begins somewhere") << "Full screen"
                                      << "scr" << 0;
    QTest::newRow("begins later") << "discreet screen"
                                  << "scr" << 0;
    QTest::newRow("letters in order") << "Log axis right"
                                      << "lgr" << 4;
    QTest::newRow("letters not from a beginning") << "Log axis right"
                                                  << "gxr" << -1;
    QTest::newRow("a word is missing") << "Pause"
                                       << "pa zz" << -1;
    QTest::newRow("two words") << "Stop the run"
                               << "run op" << 1;
  }
  void scoresMatches() {
    QFETCH(QString, text);
    QFETCH(QString, words);
    QFETCH(int, score);
    QCOMPARE(CommandFilter::score(text, words.split(' ', Qt::SkipEmptyParts)), score);
  }

  void keysChooseAndTrigger() {
    QSignalSpy second(actions_[1], &QAction::triggered);
    QSignalSpy third(actions_[2], &QAction::triggered);
    palette_->open_with(actions_);
    QTest::keyClick(filter(), Qt::Key_Down);
    QTest::keyClick(filter(), Qt::Key_Down);
    QTest::keyClick(filter(), Qt::Key_Up);
    QTest::keyClick(filter(), Qt::Key_Return);
    QCOMPARE(second.count(), 1);
    QCOMPARE(third.count(), 0);
    QVERIFY(!palette_->isVisible());
  }

  void escapeTriggersNothing() {
    QSignalSpy first(actions_[0], &QAction::triggered);
    palette_->open_with(actions_);
    QTest::keyClick(filter(), Qt::Key_Escape);
    QVERIFY(!palette_->isVisible());
    QCOMPARE(first.count(), 0);
    // The next time it starts anew.
    palette_->open_with(actions_);
    QTest::keyClicks(filter(), "pause");
    palette_->reject();
    palette_->open_with(actions_);
    QCOMPARE(filter()->text(), "");
    QCOMPARE(shown().size(), 5);
  }

  void aClickTriggers() {
    QSignalSpy third(actions_[2], &QAction::triggered);
    palette_->open_with(actions_);
    const QRect row = list()->visualRect(list()->model()->index(2, 0));
    QTest::mouseClick(list()->viewport(), Qt::LeftButton, {}, row.center());
    QCOMPARE(third.count(), 1);
  }

  void anActionThatIsGoneIsNone() {
    palette_->open_with(actions_);
    delete actions_.takeFirst();
    QTest::keyClick(filter(), Qt::Key_Return);
    QVERIFY(!palette_->isVisible());
  }

private:
  QLineEdit* filter() { return palette_->findChild<QLineEdit*>(); }
  QListView* list() { return palette_->findChild<QListView*>(); }
  QStringList shown() {
    QStringList texts;
    for (int row = 0; row < list()->model()->rowCount(); ++row)
      texts.append(list()->model()->index(row, 0).data().toString());
    return texts;
  }

  Theme theme_;
  std::unique_ptr<QWidget> window_;
  std::unique_ptr<QAbstractItemModelTester> tester_;
  QList<QAction*> actions_;
  CommandPalette* palette_ = nullptr;
};

BATCHSCOPE_TEST(CommandPaletteTest)
#include "tst_command_palette.moc"
