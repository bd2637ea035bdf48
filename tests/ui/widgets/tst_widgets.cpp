#include <QAbstractItemView>
#include <QAccessible>
#include <QApplication>
#include <QBoxLayout>
#include <QComboBox>
#include <QLabel>
#include <QSignalSpy>
#include <QStandardItemModel>
#include <QTableView>
#include <QTableWidget>
#include <QTest>
#include <QToolButton>
#include <QToolTip>

#include "test_program.h"
#include "ui/theme/theme.h"
#include "ui/widgets/accessible_combo.h"
#include "ui/widgets/labelled_edit.h"
#include "ui/widgets/widgets.h"

using namespace batchscope::ui;

namespace {

QColor pixel(QWidget& widget, int x, int y) {
  return widget.grab().toImage().pixelColor(x, y);
}

} // namespace

class WidgetsTest : public QObject {
  Q_OBJECT

private Q_SLOTS:
  void initTestCase() {
    theme_.set_mode(Theme::Mode::light);
    theme_.apply_to(*qApp);
  }

  void errorsDoNotRepeatTheirField() {
    QCOMPARE(without_option("--lr: 0 is not accepted"), "0 is not accepted");
    QCOMPARE(without_option("--data: there is no such file"), "There is no such file");
    QCOMPARE(without_option("--batch: auto:safe is not accepted for"), "auto:safe is not accepted for");
    QCOMPARE(without_option("--max-batch 3 is below"), "3 is below"); // of a part of the text
    QCOMPARE(without_option("--batch: \"-5\" is not accepted; accepted: a whole number, at least 1", "-5"),
             "Enter a whole number, 1 or more");
    QCOMPARE(
        without_option("--batch: \"8 or so\" is not accepted; accepted: a whole number, at least 1, auto or {batch}",
                       "8 or so"),
        "Enter a whole number, 1 or more, auto or {batch}");
    QCOMPARE(without_option("--memory-budget: 10KB is not accepted; accepted: at least 1MB", "10KB"),
             "Accepted: 1MB or more");
    QCOMPARE(without_option("--on-oom: grow is not accepted; accepted: shrink, fail, restart", "grow"),
             "Accepted: shrink, fail, restart");
    QCOMPARE(without_option("--lr: x is not accepted; accepted: a number"), "x is not accepted; accepted: a number");
    QCOMPARE(without_option("--lr: x is not accepted; accepted: a number", "1,x"),
             "x is not accepted; accepted: a number"); // which of them
    QCOMPARE(without_option("--dropout: 3 is not accepted; accepted: a number, at least 0 and below 1", "3"),
             "Enter a number from 0 to below 1");
    QCOMPARE(without_option("--clip: -1 is not accepted; accepted: a number, above 0", "-1"), "Enter a number above 0");
    QCOMPARE(without_option("--batch: \"a\"b\" is not accepted; accepted: a number", "a\"b"), "Enter a number");
    QCOMPARE(without_option("--sweep \"x\" is not accepted; accepted: a list"),
             "\"x\" is not accepted; accepted: a list");
    QCOMPARE(without_option("/a/b.csv: no such file"), "/a/b.csv: no such file");
    QCOMPARE(without_option("--lr:"), "--lr:");
    QCOMPARE(without_option(""), "");
    LabelledEdit edit("Learning rate");
    edit.set_error("--lr: zero is not accepted");
    QCOMPARE(edit.error(), "zero is not accepted");
  }

  void comboBoxesHaveTheirNames() {
    name_combo_boxes();
    QComboBox box;
    box.addItems({"step", "time"});
    box.setAccessibleName("X axis");
    box.setCurrentIndex(1);
    QAccessibleInterface* told = QAccessible::queryAccessibleInterface(&box);
    QCOMPARE(told->role(), QAccessible::ComboBox);
    QCOMPARE(told->text(QAccessible::Name), "X axis: time");
    QCOMPARE(told->text(QAccessible::Value), "time");
    QVERIFY(told->state().expandable);
    QCOMPARE(told->childCount(), 1);
    QCOMPARE(told->child(0)->object(), box.view());
    QCOMPARE(told->indexOfChild(told->child(0)), 0);
    box.setAccessibleName({});
    QCOMPARE(told->text(QAccessible::Name), "time");
  }

  void factsAreUpdatedInPlace() {
    FactList facts;
    facts.set_facts({{.name = "loss", .value = "0.5", .color = "#0072b2"}, {.name = "batch", .value = "1,024"}});
    facts.show();
    const QList<QLabel*> before = facts.findChildren<QLabel*>();
    QCOMPARE(visible_texts(facts), QStringList({"loss", "0.5", "batch", "1,024"}));
    QVERIFY(facts.grab().toImage().pixelColor(3, facts.height() / 4 + 1).isValid());
    facts.set_facts({{.name = "loss", .value = "0.25", .color = "#0072b2", .alarming = true}});
    QCOMPARE(visible_texts(facts), QStringList({"loss", "0.25"}));
    QCOMPARE(facts.findChildren<QLabel*>(), before);
    QLabel* value = label_with(facts, "0.25");
    QCOMPARE(value->palette().color(value->foregroundRole()), theme_.color(Role::error));
    facts.set_facts({{.name = "loss", .value = "0.125", .help = "Of the last step"}});
    QCOMPARE(value->toolTip(), QString("Of the last step"));
    facts.set_facts({{.name = "loss", .value = "0.125"}});
    QCOMPARE(value->toolTip(), QString());
    QCOMPARE(value->palette().color(value->foregroundRole()), theme_.color(Role::text));
  }

  void figuresStandBeneathEachOther() {
    FactList facts;
    facts.set_facts({{.name = "a", .value = "1,111.1"}, {.name = "b", .value = "8,888.8"}});
    facts.resize(300, facts.sizeHint().height());
    facts.show();
    QLabel* one = label_with(facts, "1,111.1");
    QLabel* other = label_with(facts, "8,888.8");
    QCOMPARE(one->geometry().right(), other->geometry().right());
    QCOMPARE(one->width(), other->width());
  }

  void theBarShowsEveryPart() {
    StackedBar bar(theme_);
    bar.resize(400, 20);
    bar.set_parts({{.name = "parameters", .bytes = 100e6, .series = 0},
                   {.name = "tiny", .bytes = 1, .series = 2},
                   {.name = "activations", .bytes = 100e6, .series = 1},
                   {.name = "asked", .bytes = 100e6, .missing = true}},
                  400e6);
    QCOMPARE(pixel(bar, 50, 10), theme_.series(0));
    QCOMPARE(pixel(bar, 150, 10), theme_.series(1));
    QCOMPARE(pixel(bar, 250, 10), theme_.color(Role::grid));
    QCOMPARE(pixel(bar, 350, 10), theme_.color(Role::window));
    QCOMPARE(pixel(bar, 399, 10), theme_.color(Role::error)); // the limit
    QVERIFY(bar.accessibleDescription().contains("parameters: 100.0 MB"));
    QVERIFY(bar.accessibleDescription().contains("asked: 100.0 MB (did not fit)"));
    bar.set_parts({}, 0);
    QCOMPARE(pixel(bar, 50, 10), theme_.color(Role::window));
  }

  void theBarTellsItsParts() {
    StackedBar bar(theme_);
    bar.resize(400, 20);
    bar.show();
    bar.set_parts({{.name = "parameters", .bytes = 100e6}, {.name = "gradients", .bytes = 300e6, .series = 4}}, 0);
    QHelpEvent help(QEvent::ToolTip, QPoint(200, 10), bar.mapToGlobal(QPoint(200, 10)));
    QApplication::sendEvent(&bar, &help);
    QCOMPARE(QToolTip::text(), "gradients: 300.0 MB");
  }

  void theBannerShowsTheNewest() {
    QWidget window;
    auto* layout = new QVBoxLayout(&window);
    auto* content = new QLabel("content", &window);
    layout->addWidget(content);
    auto* banner = new Banner(theme_, &window);
    window.resize(600, 200);
    window.show();
    const QRect place = content->geometry();
    QCOMPARE(banner->text(), QString());
    QSignalSpy dismissed(banner, &Banner::dismissed);
    QSignalSpy chosen(banner, &Banner::action_chosen);
    banner->show_problem("The disk is full.", "Open another…");
    banner->show_note("Exported.");
    QCOMPARE(banner->text(), "Exported.");
    // It lies at the lower edge, and covers nothing.
    QTRY_VERIFY(content->geometry().bottom() < banner->geometry().top());
    QCOMPARE(content->geometry().topLeft(), place.topLeft());
    banner->dismiss();
    dismissed.clear();
    QTRY_COMPARE(content->geometry(), place);
    content->setMinimumHeight(place.height() - 5); // no room: the window must not grow
    banner->show_note("Exported.");
    QCoreApplication::processEvents();
    QCOMPARE(window.height(), 200);
    QCOMPARE(content->geometry(), place);
    content->setMinimumHeight(0);
    QVERIFY(window.rect().contains(banner->geometry()));
    QVERIFY(banner->geometry().top() > window.height() / 2);
    window.resize(400, 300);
    QVERIFY(window.rect().contains(banner->geometry()));
    QVERIFY(banner->geometry().top() > window.height() / 2);
    QVERIFY(!banner->findChild<QPushButton*>()->isVisible());
    banner->show_problem("The disk is full.", "Open another…");
    QTest::mouseClick(banner->findChild<QPushButton*>(), Qt::LeftButton);
    QCOMPARE(chosen.count(), 1);
    QTest::mouseClick(banner->findChild<QToolButton*>(), Qt::LeftButton);
    QCOMPARE(dismissed.count(), 1);
    QCOMPARE(banner->text(), QString());
    banner->dismiss();
    QCOMPARE(dismissed.count(), 1);
  }

  void aBannerShowsAsMuchOfALongTextAsThereIsRoomFor() {
    QWidget window;
    window.resize(700, 400);
    auto* banner = new Banner(theme_, &window);
    window.show();
    const QString text = QString("word ").repeated(10'000);
    banner->show_problem(text);
    QCOMPARE(banner->text(), text);
    QVERIFY(window.rect().contains(banner->geometry()));
    QVERIFY(banner->height() <= window.height() / 2);
  }

  void namesAreElidedAndFiguresAreNot() {
    QWidget window;
    auto* layout = new QVBoxLayout(&window);
    auto* facts = new FactList(&window);
    layout->addWidget(facts);
    facts->set_facts({{.name = QString("a name that is far too long ").repeated(4), .value = "1,234.5 MB"},
                      {.name = "batch", .value = "128", .color = "#0072b2"}});
    window.show();
    window.resize(window.minimumSizeHint().width(), 100);
    QVERIFY(QTest::qWaitForWindowExposed(&window));
    QVERIFY2(window.width() < 300, qPrintable(QString::number(window.width())));
    for (const auto* label : facts->findChildren<QLabel*>()) {
      QVERIFY(facts->rect().contains(label->geometry()));
      if (qobject_cast<const ElidedLabel*>(label) == nullptr && !label->text().isEmpty())
        QVERIFY2(label->width() >= label->fontMetrics().horizontalAdvance(label->text()), qPrintable(label->text()));
    }
    const auto* name = facts->findChild<ElidedLabel*>();
    QHelpEvent help(QEvent::ToolTip, QPoint(5, 5), name->mapToGlobal(QPoint(5, 5)));
    QApplication::sendEvent(const_cast<ElidedLabel*>(name), &help);
    QCOMPARE(QToolTip::text(), name->text());
  }

  void chosenRowsKeepTheirColours() {
    QTableWidget table(1, 1);
    prepare_table(table);
    table.setItemDelegate(new RowDelegate(theme_, &table));
    auto* item = new QTableWidgetItem("12,345");
    item->setForeground(theme_.color(Role::error));
    table.setItem(0, 0, item);
    table.show();
    table.selectRow(0);
    QVERIFY(QTest::qWaitForWindowExposed(&table));
    const QImage image = table.viewport()->grab(table.visualItemRect(item)).toImage();
    int red = 0, chosen = 0;
    for (int y = 0; y < image.height(); ++y)
      for (int x = 0; x < image.width(); ++x) {
        const QColor pixel = image.pixelColor(x, y);
        red += pixel.red() > pixel.green() + 60 && pixel.red() > pixel.blue() + 60;
        chosen += pixel == theme_.color(Role::chosen);
      }
    QVERIFY(red > 10);
    QVERIFY(chosen > 100);
  }

  void anEmptyPageSaysItsWholeText() {
    const QString text("Every run of this database will be a row here. The demo finds a batch size, tries several, and "
                       "shows what a run does that asks for more memory than there is.");
    QWidget page;
    auto* layout = new QVBoxLayout(&page);
    auto* empty = new EmptyState("No runs yet", text, "Run the demo", &page);
    layout->addWidget(empty);
    page.resize(1200, 700);
    page.show();
    QVERIFY(QTest::qWaitForWindowActive(&page));
    QLabel* label = label_with(*empty, text);
    QVERIFY2(label->height() >= label->heightForWidth(label->width()), qPrintable(QString::number(label->height())));
    QVERIFY(label->heightForWidth(label->width()) > 2 * Theme::lines(1));
    QSignalSpy chosen(empty, &EmptyState::action_chosen);
    empty->setFocus();
    QTest::keyClick(qApp->focusWidget(), Qt::Key_Space);
    QCOMPARE(chosen.count(), 1);
    QTest::keyClick(qApp->focusWidget(), Qt::Key_Return);
    QCOMPARE(chosen.count(), 2);
  }

  void cardsAndPillsChangeTheirTone() {
    Card card("Out of memory");
    card.show();
    card.set_alarming(true);
    QLabel* title = label_with(card, "Out of memory");
    QCOMPARE(title->palette().color(title->foregroundRole()), theme_.color(Role::error));
    card.set_alarming(false);
    QCOMPARE(title->palette().color(title->foregroundRole()), theme_.color(Role::text));
    card.set_title({});
    QVERIFY(title->isHidden());
    Pill pill;
    pill.show_text("running", Pill::Tone::accent);
    pill.show();
    QCOMPARE(pill.palette().color(pill.foregroundRole()), theme_.color(Role::accent));
    pill.show_text("failed", Pill::Tone::error);
    QCOMPARE(pill.palette().color(pill.foregroundRole()), theme_.color(Role::error));
  }

  void tablesChooseWholeRows() {
    QWidget window;
    auto* layout = new QVBoxLayout(&window);
    QStandardItemModel model(3, 2);
    auto* table = new QTableView(&window);
    auto* next = new QPushButton("next", &window);
    layout->addWidget(table);
    layout->addWidget(next);
    table->setModel(&model);
    prepare_table(*table);
    window.show();
    QVERIFY(QTest::qWaitForWindowActive(&window));
    QTest::mouseClick(table->viewport(), Qt::LeftButton, {}, table->visualRect(model.index(1, 0)).center());
    QCOMPARE(table->selectionModel()->selectedIndexes().size(), 2);
    QVERIFY(table->rowHeight(0) >= Theme::lines(1.5));
    // Tab leads out of it.
    QTest::keyClick(table, Qt::Key_Tab);
    QCOMPARE(qApp->focusWidget(), next);
    QCOMPARE(table->currentIndex(), model.index(1, 0));
  }

private:
  static QStringList visible_texts(const QWidget& widget) {
    QStringList texts;
    for (const QLabel* label : widget.findChildren<QLabel*>()) {
      if (label->isVisible() && !label->text().isEmpty())
        texts.append(label->text());
    }
    return texts;
  }
  static QLabel* label_with(const QWidget& widget, const QString& text) {
    for (QLabel* label : widget.findChildren<QLabel*>()) {
      if (label->text() == text)
        return label;
    }
    qFatal("no label says %s", qPrintable(text));
  }

  Theme theme_;
};

BATCHSCOPE_TEST(WidgetsTest)
#include "tst_widgets.moc"
