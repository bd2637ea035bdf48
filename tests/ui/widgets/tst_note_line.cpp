#include "ui/widgets/note_line.h"

#include <memory>

#include <QLineEdit>
#include <QPushButton>
#include <QScrollArea>
#include <QSignalSpy>
#include <QTest>
#include <QVBoxLayout>

#include "test_program.h"
#include "ui/theme/theme.h"
#include "ui/widgets/labelled_edit.h"

using namespace batchscope::ui;

/// The line beneath a field.
class NoteLineTest : public QObject {
  Q_OBJECT

private Q_SLOTS:
  void initTestCase() { theme_.apply_to(*qApp); }

  void init() {
    window_ = std::make_unique<QWidget>();
    window_->resize(500, 300);
    auto* column = new QVBoxLayout(window_.get());
    first_ = new LabelledEdit("First", window_.get());
    first_->setFixedWidth(150);
    below_ = new QPushButton("Below", window_.get());
    column->addWidget(first_);
    column->addWidget(below_);
    column->addStretch();
    window_->show();
    QVERIFY(QTest::qWaitForWindowActive(window_.get()));
    below_->setFocus();
  }

  void anErrorMovesNothing() {
    const QRect before = below_->geometry();
    for (const QString& error : {QString("short"), QString(400, 'w'), QString("two\nlines"), QString()}) {
      first_->set_error(error);
      settle();
      QCOMPARE(below_->geometry(), before);
    }
    first_->set_hint("A hint");
    settle();
    QCOMPARE(below_->geometry(), before);
  }

  void theWholeErrorStandsOverTheRest() {
    const QString error = "0 is not accepted; accepted: a whole number from 1 to 9,223,372,036,854,775,807";
    first_->set_error(error);
    QVERIFY(line()->cut());
    QVERIFY(whole() == nullptr); // nobody looks there
    first_->edit()->setFocus();
    QVERIFY(whole() && whole()->isVisible());
    QCOMPARE(whole()->text(), error);
    QVERIFY(window_->rect().contains(whole()->geometry()));
    QVERIFY(whole()->height() >= whole()->heightForWidth(whole()->width()));
    QCOMPARE(whole()->mapTo(window_.get(), QPoint()).y(), line()->mapTo(window_.get(), QPoint()).y());
    // What it lies over is still clicked.
    QSignalSpy clicked(below_, &QPushButton::clicked);
    QCOMPARE(window_->childAt(below_->geometry().center()), below_);
    QTest::mouseClick(window_->windowHandle(), Qt::LeftButton, {}, below_->geometry().center());
    QCOMPARE(clicked.count(), 1);
    below_->setFocus();
    QVERIFY(whole() == nullptr);
    // Also with the pointer alone.
    QEnterEvent enter(QPointF(2, 2), QPointF(2, 2), QPointF(2, 2));
    first_->edit()->setAttribute(Qt::WA_UnderMouse);
    QApplication::sendEvent(first_->edit(), &enter);
    QVERIFY(whole() != nullptr);
    first_->set_error({});
    QVERIFY(whole() == nullptr);
    first_->edit()->setAttribute(Qt::WA_UnderMouse, false);
  }

  void whatFitsIsNotSaidTwice() {
    first_->edit()->setFocus();
    first_->set_error("Too few");
    QVERIFY(!line()->cut());
    QVERIFY(whole() == nullptr);
    QCOMPARE(first_->edit()->accessibleDescription(), "Too few");
    // Hints are cut off, no more.
    first_->set_error({});
    first_->set_hint(QString(200, 'x'));
    QVERIFY(line()->cut());
    QVERIFY(whole() == nullptr);
    QCOMPARE(line()->toolTip(), QString(200, 'x'));
  }

  void itScrollsWithItsForm() {
    QScrollArea area;
    area.resize(300, 120);
    auto* form = new QWidget;
    form->setFixedSize(280, 600);
    auto* edit = new QLineEdit(form);
    auto* note = new NoteLine(*edit, form);
    note->setGeometry(0, 40, 100, 16);
    area.setWidget(form);
    area.show();
    QVERIFY(QTest::qWaitForWindowActive(&area));
    edit->setFocus();
    note->show_note(QString(200, 'e'), true);
    const auto* all = form->findChild<QLabel*>("whole_error");
    QVERIFY(all != nullptr);
    QCOMPARE(all->parentWidget(), form);
    QVERIFY(all->width() <= form->width());
  }

private:
  static void settle() {
    for (int round = 0; round < 3; ++round)
      QCoreApplication::processEvents();
  }
  NoteLine* line() { return first_->findChild<NoteLine*>(); }
  QLabel* whole() { return window_->findChild<QLabel*>("whole_error"); }

  Theme theme_;
  std::unique_ptr<QWidget> window_;
  LabelledEdit* first_ = nullptr;
  QPushButton* below_ = nullptr;
};

BATCHSCOPE_TEST(NoteLineTest)
#include "tst_note_line.moc"
