#include <QTest>

#include "test_program.h"
#include "ui/output/line_hits.h"

using namespace batchscope::ui;

namespace {

LineHits hits_of(const QString& text, const QStringList& lines) {
  LineHits hits;
  hits.set_text(text);
  for (qsizetype i = 0; i < lines.size(); ++i)
    hits.add(i, lines[i]);
  return hits;
}

} // namespace

/// Where a text occurs in an output.
class TestLineHits : public QObject {
  Q_OBJECT

private Q_SLOTS:
  void all_places_are_found_without_regard_to_case() {
    const LineHits hits = hits_of("loss", {"Loss 1, loss 2", "", "none", "glossy"});
    const std::deque<LineHits::Hit> expected{{0, 0}, {0, 8}, {3, 1}};
    QVERIFY(hits.all() == expected);
    QVERIFY(hits_of("aa", {"aaaaa"}).all().size() == 2);
    QVERIFY(hits_of("", {"a"}).all().empty());
  }

  void steps_go_round() {
    const LineHits hits = hits_of("a", {"a", "b", "a a"});
    QCOMPARE(*hits.at_or_after({0, 0}), 0U);
    QCOMPARE(*hits.at_or_after({0, 1}), 1U);
    QCOMPARE(*hits.at_or_after({2, 3}), 0U);
    QCOMPARE(*hits.before({2, 2}), 1U);
    QCOMPARE(*hits.before({0, 0}), 2U);
    QVERIFY(!hits_of("x", {"a"}).at_or_after({0, 0}));
    QVERIFY(!hits_of("x", {"a"}).before({0, 0}));
  }

  void lines_that_go_take_theirs_along() {
    LineHits hits = hits_of("a", {"a", "a", "a a", "a"});
    hits.drop_before(1);
    hits.drop_from(2);
    QCOMPARE(hits.all().size(), 1U);
    QCOMPARE(hits.all().front().line, 1);
    hits.add(2, u"b a");
    QCOMPARE(hits.all().back().column, 2);
  }
};

BATCHSCOPE_TEST(TestLineHits)
#include "tst_line_hits.moc"
