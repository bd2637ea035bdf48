#include <QLineEdit>
#include <QMenu>
#include <QSignalSpy>
#include <QSpinBox>
#include <QTest>

#include "made_sweep.h"
#include "test_program.h"
#include "ui/sweep/value_row.h"
#include "ui/sweep/vary_card.h"
#include "ui/theme/theme.h"

using namespace batchscope;
using namespace batchscope::ui;
using batchscope::test::grid_spec;

namespace {

/// The card as a person has it before them.
class CardHere {
public:
  CardHere() {
    theme_.apply_to(*qApp);
    card_.resize(300, 500);
    card_.show();
    if (!QTest::qWaitForWindowExposed(&card_))
      qFatal("the card is not shown");
  }
  VaryCard& card() { return card_; }
  QWidget* row(const char* field) { return card_.findChild<ValueRow*>(QLatin1String(field)); }
  QLineEdit* input(const char* field) { return row(field)->findChild<QLineEdit*>(); }
  QPushButton* chip(const char* field, const QString& text) {
    for (auto* button : row(field)->findChildren<QPushButton*>())
      if (button->isVisibleTo(row(field)) && button->text() == text)
        return button;
    return nullptr;
  }
  std::string values(const char* field) {
    sweep::SweepSpec spec;
    card_.apply(spec);
    std::string text;
    for (const sweep::Variation& variation : spec.vary)
      if (variation.field == field)
        for (const std::string& value : variation.values)
          text += (text.empty() ? "" : " ") + value;
    return text;
  }

private:
  Theme theme_;
  VaryCard card_;
};

} // namespace

/// The values of a plan, added and removed with keys and mouse.
class TestVaryCard : public QObject {
  Q_OBJECT

private Q_SLOTS:
  void typed_values_count_at_once_and_enter_makes_them_chips() {
    CardHere here;
    here.card().show_plan(grid_spec("32", "", 1));
    QSignalSpy changed(&here.card(), &VaryCard::changed);
    QTest::keyClicks(here.input("batch"), "8..64 x2, 50%");
    QCOMPARE(here.values("batch"), std::string("8 16 32 64 50%"));
    QVERIFY(changed.count() > 0);
    QVERIFY(here.chip("batch", "16") == nullptr);
    QTest::keyClick(here.input("batch"), Qt::Key_Return);
    QVERIFY(here.chip("batch", "16") != nullptr);
    QVERIFY(here.chip("batch", "50 % of largest") != nullptr);
    QCOMPARE(here.input("batch")->text(), QString());
    QCOMPARE(here.values("batch"), std::string("8 16 32 64 50%"));
  }

  void what_is_wrong_is_said_below_and_changes_nothing() {
    CardHere here;
    here.card().show_plan(grid_spec("16,32", "", 1));
    QTest::keyClicks(here.input("batch"), "64..16 x2");
    QVERIFY(here.card().has_error());
    QVERIFY2(here.input("batch")->accessibleDescription().contains("from the smaller number"),
             qPrintable(here.input("batch")->accessibleDescription()));
    QCOMPARE(here.values("batch"), std::string("16 32"));
    QTest::keyClick(here.input("batch"), Qt::Key_Return);
    QCOMPARE(here.input("batch")->text(), QString("64..16 x2"));
    here.input("batch")->selectAll();
    QTest::keyClicks(here.input("batch"), "64");
    QVERIFY(!here.card().has_error());
    QCOMPARE(here.values("batch"), std::string("16 32 64"));
  }

  void chips_are_removed_by_click_and_by_key() {
    CardHere here;
    here.card().show_plan(grid_spec("16,32,64", "0.001", 1));
    QTest::mouseClick(here.chip("batch", "32"), Qt::LeftButton);
    QCOMPARE(here.values("batch"), std::string("16 64"));
    here.chip("batch", "16")->setFocus();
    QTest::keyClick(here.chip("batch", "16"), Qt::Key_Delete);
    QCOMPARE(here.values("batch"), std::string("64"));
    // Without its last value a field no longer varies.
    QTest::mouseClick(here.chip("lr", "0.001"), Qt::LeftButton);
    sweep::SweepSpec spec;
    here.card().apply(spec);
    QCOMPARE(spec.vary.size(), std::size_t{1});
  }

  void any_field_can_be_added_with_the_value_it_has() {
    CardHere here;
    here.card().show_plan(grid_spec("16", "", 1));
    auto* menu = here.card().findChild<QMenu*>();
    Q_EMIT menu->aboutToShow();
    QSet<QString> offered;
    QAction* dropout = nullptr;
    for (const QAction* group : menu->actions())
      for (QAction* action : group->menu()->actions()) {
        offered << action->data().toString();
        dropout = action->data() == "dropout" ? action : dropout;
      }
    QVERIFY(dropout != nullptr && !offered.contains("batch") && !offered.contains("name"));
    QCOMPARE(offered.size(), static_cast<qsizetype>(run::spec_fields().size()) - 2);
    dropout->trigger();
    QCOMPARE(here.values("dropout"), std::string("0"));
    QTest::keyClicks(here.input("dropout"), "0.5");
    QTest::keyClick(here.input("dropout"), Qt::Key_Return);
    QCOMPARE(here.values("dropout"), std::string("0 0.5"));
  }

  void repeats_are_seeds() {
    CardHere here;
    sweep::SweepSpec spec = grid_spec("16", "", 2);
    spec.base.seed = 5;
    here.card().show_plan(spec);
    auto* repeats = here.card().findChild<QSpinBox*>("repeats");
    QCOMPARE(repeats->value(), 2);
    repeats->setValue(3);
    here.card().apply(spec);
    QCOMPARE(spec.repeats, std::int64_t{3});
    bool said = false;
    for (const QLabel* label : here.card().findChildren<QLabel*>())
      said = said || label->text() == "seeds 5 to 7";
    QVERIFY(said);
  }

  void values_of_a_stored_sweep_stay() {
    CardHere here;
    here.card().show_stored(grid_spec("16,32", "", 2));
    QTest::mouseClick(here.chip("batch", "16"), Qt::LeftButton);
    QCOMPARE(here.values("batch"), std::string("16 32"));
    QTest::keyClicks(here.input("batch"), "64");
    QTest::keyClick(here.input("batch"), Qt::Key_Return);
    QCOMPARE(here.values("batch"), std::string("16 32 64"));
    QTest::mouseClick(here.chip("batch", "64"), Qt::LeftButton);
    QCOMPARE(here.values("batch"), std::string("16 32"));
    QCOMPARE(here.card().findChild<QSpinBox*>("repeats")->minimum(), 2);
    QVERIFY(!here.card().findChild<QPushButton*>("add_field")->isVisible());
  }
};

BATCHSCOPE_TEST(TestVaryCard)
#include "tst_vary_card.moc"
