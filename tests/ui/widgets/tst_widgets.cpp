#include <QApplication>
#include <QBoxLayout>
#include <QLabel>
#include <QSignalSpy>
#include <QStandardItemModel>
#include <QTableView>
#include <QToolButton>
#include <QToolTip>
#include <QtTest>

#include "ui/theme/theme.h"
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
    QCOMPARE(without_option("--max-batch 3 is below"), "3 is below"); // of a part of the text
    QCOMPARE(without_option("/a/b.csv: no such file"), "/a/b.csv: no such file");
    QCOMPARE(without_option("--lr:"), "--lr:");
    QCOMPARE(without_option(""), "");
    LabelledEdit edit("Learning rate");
    edit.set_error("--lr: zero is not accepted");
    QCOMPARE(edit.error(), "Zero is not accepted");
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
    facts.set_facts({{.name = "loss", .value = "0.125"}});
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
    QVERIFY(bar.accessibleDescription().contains("asked: 100.0 MB, which did not fit"));
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
    auto* banner = new Banner(theme_, &window);
    layout->addWidget(banner);
    window.resize(600, 200);
    window.show();
    QCOMPARE(banner->text(), QString());
    QSignalSpy dismissed(banner, &Banner::dismissed);
    QSignalSpy chosen(banner, &Banner::action_chosen);
    banner->show_problem("The disk is full.", "Open another...");
    banner->show_note("Exported.");
    QCOMPARE(banner->text(), "Exported.");
    QVERIFY(!banner->findChild<QPushButton*>()->isVisible());
    banner->show_problem("The disk is full.", "Open another...");
    QTest::mouseClick(banner->findChild<QPushButton*>(), Qt::LeftButton);
    QCOMPARE(chosen.count(), 1);
    QTest::mouseClick(banner->findChild<QToolButton*>(), Qt::LeftButton);
    QCOMPARE(dismissed.count(), 1);
    QCOMPARE(banner->text(), QString());
    banner->dismiss();
    QCOMPARE(dismissed.count(), 1);
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

QTEST_MAIN(WidgetsTest)
#include "tst_widgets.moc"
