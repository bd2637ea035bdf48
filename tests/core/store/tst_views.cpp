#include <QTest>

#include "core/store/run_reader.h"
#include "store_test.h"
#include "test_program.h"

using namespace batchscope;
using namespace batchscope::store;
using namespace batchscope::store::test;

/// Arrangements that the user saves under a name.
class TestViews : public QObject {
  Q_OBJECT

private Q_SLOTS:
  void are_saved_replaced_and_deleted();
  void wrong_ones_are_refused();
};

void TestViews::are_saved_replaced_and_deleted() {
  const Folder folder;
  RunStore store(folder.file());
  const RunReader reader(folder.file());
  QCOMPARE(reader.views().size(), std::size_t(0));
  const std::string content = R"({"columns": ["lr", "peak_bytes"], "text": "it's \"one\" ä"})";
  store.save_view("wide", content);
  store.save_view("narrow", "[]");
  auto views = reader.views();
  QCOMPARE(views.size(), std::size_t(2));
  QCOMPARE(views[0].name, std::string("narrow"));
  QCOMPARE(views[1].name, std::string("wide"));
  QCOMPARE(views[1].content_json, content);
  const std::string created = views[1].created;
  QCOMPARE(created.size(), std::string("2026-01-31T12:00:00Z").size());
  store.save_view("wide", "{}");
  views = reader.views();
  QCOMPARE(views.size(), std::size_t(2));
  QCOMPARE(views[1].content_json, std::string("{}"));
  QCOMPARE(views[1].created, created);
  store.delete_view("narrow");
  QCOMPARE(reader.views().size(), std::size_t(1));
  QCOMPARE(reader.check(), std::vector<std::string>{});
}

void TestViews::wrong_ones_are_refused() {
  const Folder folder;
  RunStore store(folder.file());
  Error::Kind kind{};
  QCOMPARE(error_of([&] { store.delete_view("none"); }, &kind), std::string("there is no view \"none\""));
  QCOMPARE(kind, Error::Kind::input);
  QCOMPARE(error_of([&] { store.save_view(" \n", "{}"); }), std::string("a view needs a name"));
  QVERIFY(!error_of([&] { store.save_view("name", "{"); }, &kind).empty());
  QCOMPARE(kind, Error::Kind::input);
  QCOMPARE(RunReader(folder.file()).views().size(), std::size_t(0));
}

BATCHSCOPE_TEST(TestViews)
#include "tst_views.moc"
