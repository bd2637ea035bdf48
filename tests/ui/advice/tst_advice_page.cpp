#include "ui/advice/advice_page.h"

#include <QClipboard>
#include <QComboBox>
#include <QDesktopServices>
#include <QGuiApplication>
#include <QLabel>
#include <QPushButton>
#include <QSignalSpy>
#include <QTableView>

#include "tests/ui/workbench_test.h"
#include "ui/findings/findings_button.h"
#include "ui/findings/findings_card.h"
#include "ui/widgets/commands.h"

#include "test_program.h"

using namespace batchscope;
using namespace batchscope::ui;
using namespace batchscope::ui::test;

/// The addresses that are opened while it is there.
class Opened : public QObject {
  Q_OBJECT

public:
  Opened() { QDesktopServices::setUrlHandler("https", this, "add"); }
  ~Opened() override { QDesktopServices::unsetUrlHandler("https"); }
  Q_INVOKABLE void add(const QUrl& address) { all += address; }

  QList<QUrl> all;
};

/// Four questions, the rows that apply, a run made of them, and the findings on the current run.
class AdvicePageTest : public QObject {
  Q_OBJECT

private Q_SLOTS:
  void init() {
    here_ = std::make_unique<WorkbenchHere>();
    page_ = std::make_unique<AdvicePage>(**here_);
    page_->resize(1100, 800);
    page_->show();
  }
  void cleanup() {
    page_.reset();
    here_.reset();
  }

  void answersChangeTheRows() {
    choose("instruction-tuning");
    choose("7B");
    choose("4bit");
    choose("16");
    QCOMPARE(cell(0, 0), QString("4–8"));
    QVERIFY(cell(0, 4).contains("selection matrix"));
    QVERIFY(command().contains("--batch 4 --accumulate 8"));
    choose("8");
    QCOMPARE(cell(0, 0), QString("1–2"));
  }

  void theRowsBecomeADraft() {
    QSignalSpy proposed(&**here_, &Workbench::run_proposed);
    choose("accuracy");
    use()->trigger();
    QCOMPARE(proposed.count(), 1);
    QCOMPARE(proposed[0][0].value<run::RunSpec>().batch.number, 128);
    choose("speed");
    table()->selectRow(0);
    use()->trigger();
    QCOMPARE(proposed.count(), 2);
    const auto spec = proposed[1][0].value<run::RunSpec>();
    QCOMPARE(spec.batch.number * spec.accumulate, 512);
    QCOMPARE(spec.label_smoothing, 0.1);
  }

  void severalRanksCannotStartHere() {
    choose("distributed");
    QVERIFY(!use()->isEnabled());
    QVERIFY(!why_not(*use()).isEmpty());
    QVERIFY(command().contains("plan "));
  }

  void sourcesThatDisagreeAreCopied() {
    choose("fine-tuning");
    page_->page_actions().at(1)->trigger();
    const QString text = QGuiApplication::clipboard()->text();
    QVERIFY(text.contains("disagree"));
    QVERIFY(text.count('\n') > table()->model()->rowCount());
  }

  void wholeTables() {
    auto* which = page_->findChild<QComboBox*>("which-table");
    auto* rows = page_->findChild<QTableView*>("advice-table");
    for (int index = 0; index < which->count(); ++index) {
      which->setCurrentIndex(index);
      Q_EMIT which->activated(index);
      QVERIFY(rows->model()->rowCount() > 0 && rows->model()->columnCount() > 1);
    }
  }

  void textsAreWhole() {
    choose("speed");
    for (auto* rows : {table(), page_->findChild<QTableView*>("advice-table")})
      for (const int width : {1400, 900}) {
        page_->resize(width, 800);
        const auto all_fit = [&] {
          for (int row = 0; row < rows->model()->rowCount(); ++row)
            for (int column = 0; column < rows->model()->columnCount(); ++column) {
              const QRect inside(0, 0, rows->columnWidth(column) - 19, 10'000);
              const QString text = rows->model()->index(row, column).data().toString();
              const int wanted = rows->fontMetrics().boundingRect(inside, Qt::TextWordWrap, text).height();
              if (rows->rowHeight(row) < wanted)
                return false;
            }
          return true;
        };
        QTRY_VERIFY_WITH_TIMEOUT(all_fit(), patience_ms);
      }
  }

  void sourcesOpen() {
    Opened opened;
    auto* which = page_->findChild<QComboBox*>("which-table");
    which->setCurrentIndex(which->findData("sources"));
    Q_EMIT which->activated(which->currentIndex());
    auto* rows = page_->findChild<QTableView*>("advice-table");
    int row = 0;
    while (!rows->model()->index(row, 0).data().toString().startsWith("Goyal"))
      QVERIFY(++row < rows->model()->rowCount());
    const QModelIndex title = rows->model()->index(row, 1);
    rows->scrollTo(title);
    QTest::mouseClick(rows->viewport(), Qt::LeftButton, {}, rows->visualRect(title.siblingAtColumn(0)).center());
    QCOMPARE(opened.all.size(), 0); // its name leads nowhere
    QTest::mouseClick(rows->viewport(), Qt::LeftButton, {}, rows->visualRect(title).center());
    page_->activateWindow();
    QVERIFY(QTest::qWaitForWindowActive(page_.get(), patience_ms));
    rows->setFocus();
    QTest::keyClick(rows, Qt::Key_L, Qt::ControlModifier | Qt::ShiftModifier);
    QCOMPARE(opened.all, QList<QUrl>(2, QUrl("https://arxiv.org/abs/1706.02677")));
  }

  void theChoiceIsKept() {
    choose("chat");
    choose("13B");
    const QJsonObject state = page_->state();
    AdvicePage other(**here_);
    other.restore(state);
    QCOMPARE(other.state(), state);
    other.restore({{"questions", 7}, {"table", "none"}}); // nothing of it is known
    QCOMPARE(other.state(), state);
  }

  void aRunIsJudgedAndMended() {
    run::RunSpec wrong = small_run(3);
    wrong.batch.number = 2000; // 4 steps an epoch
    const Job* job = here_->operator->()->start_run(wrong);
    QTRY_VERIFY_WITH_TIMEOUT(job->over(), patience_ms);
    auto* findings = page_->findChild<FindingsCard*>();
    QTRY_COMPARE_WITH_TIMEOUT(findings->count(), 1, patience_ms);
    QSignalSpy proposed(&**here_, &Workbench::run_proposed);
    auto* label = findings->findChild<QLabel*>("finding");
    QVERIFY(label->text().contains("4 steps"));
    Q_EMIT label->linkActivated("mend");
    QCOMPARE(proposed.count(), 1);
    QCOMPARE(proposed[0][0].value<run::RunSpec>().batch.number, 400);
  }

  void findingsOfManyRuns() {
    FindingsButton button;
    button.show_findings({{1, {}}});
    QVERIFY(button.isHidden());
    const advice::Finding finding{.rule = "no-warmup", .title = "No warm-up", .message = "x 16"};
    button.show_findings({{1, {}}, {2, {finding}}, {3, {finding}}});
    QVERIFY(!button.isHidden());
    QVERIFY(button.text().contains("2 runs"));
    QCOMPARE(button.menu()->actions().size(), 1);
    QSignalSpy chosen(&button, &FindingsButton::run_chosen);
    button.menu()->actions().first()->trigger();
    QCOMPARE(chosen[0][0].toLongLong(), 2);
  }

private:
  void choose(const QString& key) {
    auto* button = page_->findChild<QPushButton*>(key);
    QVERIFY2(button, qPrintable(key));
    button->click();
  }
  QTableView* table() const { return page_->findChild<QTableView*>("sizes"); }
  QString cell(int row, int column) const { return table()->model()->index(row, column).data().toString(); }
  QString command() const { return page_->findChild<QLabel*>("advised-command")->text(); }
  QAction* use() const { return page_->page_actions().first(); }

  std::unique_ptr<WorkbenchHere> here_;
  std::unique_ptr<AdvicePage> page_;
};

BATCHSCOPE_TEST(AdvicePageTest)
#include "tst_advice_page.moc"
