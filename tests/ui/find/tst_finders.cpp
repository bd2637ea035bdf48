#include <QSignalSpy>

#include "core/search/run_search.h"
#include "core/search/strategy.h"
#include "test_program.h"
#include "ui/find/find_test.h"

using namespace batchscope;
using namespace batchscope::ui;
using namespace batchscope::ui::test;

/// Each finder, asked for on the page: what the page says is what the search returned and what was stored.
class TestFinders : public QObject {
  Q_OBJECT

private Q_SLOTS:
  void the_page_says_what_the_search_came_to_data();
  void the_page_says_what_the_search_came_to();
};

void TestFinders::the_page_says_what_the_search_came_to_data() {
  QTest::addColumn<QString>("strategy");
  for (const search::Strategy* strategy : search::strategies()) {
    QTest::newRow(strategy->name) << QString(strategy->name);
    if (batchscope::test::sanitized)
      break;
  }
}

void TestFinders::the_page_says_what_the_search_came_to() {
  QFETCH(QString, strategy);
  FindHere here;
  Job* job = here.search(tight_net(), strategy);
  QVERIFY(job != nullptr);
  QTRY_VERIFY_WITH_TIMEOUT(job->probes().size() >= 2, patience_ms);
  QTRY_VERIFY(here.table().model()->rowCount() >= 2); // while the search goes on
  QTRY_COMPARE_WITH_TIMEOUT(job->state(), Job::State::done, patience_ms);
  here.keep_picture(strategy);

  const search::SearchResult& result = *job->search_result();
  QCOMPARE(QString::fromStdString(result.strategy), strategy);
  QVERIFY(result.found && result.largest && result.safe);
  QCOMPARE(here.text("largest"), QLocale().toString(qlonglong(*result.largest)));
  QCOMPARE(here.text("safe"), QLocale().toString(qlonglong(*result.safe)));
  // On a busy machine the timings may not tell.
  QCOMPARE(here.text("recommended"),
           result.recommended ? QLocale().toString(qlonglong(*result.recommended)) : QStringLiteral("–"));

  Json stored = here.stored_search(1);
  QCOMPARE(stored["strategy"].get<std::string>(), strategy.toStdString());
  QCOMPARE(stored["largest"].get<std::int64_t>(), *result.largest);
  QCOMPARE(stored["safe"].get<std::int64_t>(), *result.safe);
  QVERIFY(stored["recommended"] == (result.recommended ? Json(*result.recommended) : Json(nullptr)));

  // A row a run, in their order, with what each needed.
  const auto* model = here.table().model();
  std::size_t row = 0;
  for (const char* part : {"probes", "checks"}) {
    for (const Json& probe : stored[part]) {
      const auto text = [&](int column) { return model->index(static_cast<int>(row), column).data().toString(); };
      QCOMPARE(text(0), QString::number(row + 1));
      QCOMPARE(text(1), QLocale().toString(qlonglong(probe["batch"].get<std::int64_t>())));
      const bool fits = probe["outcome"] == "fits";
      QCOMPARE(text(4), fits ? QString("fits") : QString("OOM"));
      if (fits)
        QCOMPARE(text(3), QLocale().toString(probe["peak_bytes"].get<double>() / 1e6, 'f', 1));
      ++row;
    }
  }
  const auto rows = static_cast<std::size_t>(model->rowCount());
  QVERIFY(rows == row || (rows == row + 1 && result.memory)); // and the size above, where it was predicted
}

BATCHSCOPE_TEST(TestFinders)
#include "tst_finders.moc"
