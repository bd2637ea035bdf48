#include <QTest>

#include <map>
#include <random>

#include <SQLiteCpp/SQLiteCpp.h>

#include "core/store/run_reader.h"
#include "store_test.h"
#include "test_program.h"

using namespace batchscope;
using namespace batchscope::store;
using namespace batchscope::store::test;

namespace {

/// Runs that are over, put in at once: thousands of them one by one take long.
void add_many(const std::filesystem::path& file, int count) {
  SQLite::Database database(file.string(), SQLite::OPEN_READWRITE, 5000);
  SQLite::Transaction transaction(database);
  SQLite::Statement insert(database, "INSERT INTO run (uid, name, status, reason, started, spec, start, steps, "
                                     "examples_seen, oom_events, peak_bytes) VALUES (?, ?, 'finished', '', "
                                     "'2026-01-01T00:00:00Z', '{}', '{}', 10, 100, 0, 1000)");
  for (int i = 0; i < count; ++i) {
    insert.bind(1, "many-" + std::to_string(i));
    insert.bind(2, "run " + std::to_string(i));
    insert.exec();
    insert.reset();
  }
  transaction.commit();
}

/// The list as it follows from the changes alone.
class Replayed {
public:
  explicit Replayed(const std::filesystem::path& file) : reader_(file) {}

  ListChanges look() {
    ListChanges changes = reader_.changes(cursor_);
    if (changes.all)
      rows_.clear();
    for (const std::int64_t id : changes.removed)
      rows_.erase(id);
    for (const RunRow& row : changes.rows)
      rows_[row.id] = row;
    return changes;
  }
  /// Whether it is what the whole list says.
  bool right() const {
    const auto all = reader_.list();
    if (all.size() != rows_.size())
      return false;
    return std::all_of(all.begin(), all.end(), [this](const RunRow& row) {
      const auto known = rows_.find(row.id);
      return known != rows_.end() && known->second.name == row.name && known->second.note == row.note &&
             known->second.outcome.status == row.outcome.status && known->second.outcome.steps == row.outcome.steps;
    });
  }

private:
  RunReader reader_;
  ListCursor cursor_;
  std::map<std::int64_t, RunRow> rows_;
};

std::vector<std::int64_t> ids_of(const ListChanges& changes) {
  std::vector<std::int64_t> ids;
  for (const RunRow& row : changes.rows)
    ids.push_back(row.id);
  return ids;
}

using Ids = std::vector<std::int64_t>;

} // namespace

/// Who shows the list of runs reads what changed in it.
class TestRunList : public QObject {
  Q_OBJECT

private Q_SLOTS:
  void a_change_of_one_of_ten_thousand_reads_one();
  void each_kind_of_change_is_told();
  void a_removed_run_is_told_whatever_was_seen_before();
  void a_run_whose_process_is_gone_is_told();
  void another_database_in_its_place_is_read_anew();
  void any_changes_in_any_order();
};

void TestRunList::a_change_of_one_of_ten_thousand_reads_one() {
  const Folder folder;
  RunStore store(folder.file());
  add_many(folder.file(), 10'000);
  Replayed told(folder.file());
  const ListChanges first = told.look();
  QVERIFY(first.all);
  QCOMPARE(first.rows.size(), std::size_t{10'000});
  QCOMPARE(told.look().rows_read, std::size_t{0});
  store.rename(5000, "another");
  const ListChanges renamed = told.look();
  QVERIFY(!renamed.all);
  QCOMPARE(ids_of(renamed), Ids{5000});
  QCOMPARE(renamed.rows_read, std::size_t{1});
  QVERIFY(told.look().empty());
  // One that is being written is looked at once each time: its process may be gone.
  auto run = store.begin(new_run("begun"));
  for (int step = 1; step <= 5; ++step) {
    run->sink().record(record_at(step));
    store.flush();
    const ListChanges grown = told.look();
    QCOMPARE(ids_of(grown), Ids{run->id()});
    QCOMPARE(grown.rows_read, std::size_t{1});
  }
  QCOMPARE(told.look().rows_read, std::size_t{1});
  run->finish(outcome(telemetry::RunStatus::finished));
  QCOMPARE(told.look().rows_read, std::size_t{1});
  QCOMPARE(told.look().rows_read, std::size_t{0});
  QVERIFY(told.right());
}

void TestRunList::each_kind_of_change_is_told() {
  const Folder folder;
  RunStore store(folder.file());
  Replayed told(folder.file());
  QVERIFY(told.look().all);
  store.add_finished(new_run("one"), outcome(telemetry::RunStatus::finished));
  store.add_finished(new_run("two"), outcome(telemetry::RunStatus::failed));
  QCOMPARE(ids_of(told.look()), (Ids{1, 2}));
  store.set_note(2, "a note");
  QCOMPARE(ids_of(told.look()), Ids{2});
  store.set_deleted({1}, true);
  const ListChanges deleted = told.look();
  QVERIFY(deleted.rows.empty());
  QCOMPARE(deleted.removed, Ids{1});
  store.set_deleted({1}, false);
  QCOMPARE(ids_of(told.look()), Ids{1});
  QVERIFY(told.right());
}

void TestRunList::a_removed_run_is_told_whatever_was_seen_before() {
  const Folder folder;
  RunStore store(folder.file());
  for (int i = 0; i < 3; ++i)
    store.add_finished(new_run("run"), outcome(telemetry::RunStatus::finished));
  Replayed told(folder.file());
  told.look();
  // Marked and removed between two looks.
  store.set_deleted({2}, true);
  QCOMPARE(store.purge_deleted(), std::int64_t{1});
  QCOMPARE(told.look().removed, Ids{2});
  // Removed when the mark was seen already.
  store.set_deleted({3}, true);
  QCOMPARE(told.look().removed, Ids{3});
  QCOMPARE(store.purge_deleted(), std::int64_t{1});
  QVERIFY(told.look().empty());
  QVERIFY(told.right());
}

void TestRunList::a_run_whose_process_is_gone_is_told() {
  const Folder folder;
  RunStore store(folder.file());
  auto run = store.begin(new_run("running"));
  Replayed told(folder.file());
  QCOMPARE(told.look().rows.front().outcome.status, telemetry::RunStatus::running);
  {
    // As if its process had begun before this boot. Nothing in the table of runs changes.
    SQLite::Database database(folder.file().string(), SQLite::OPEN_READWRITE, 5000);
    database.exec("UPDATE process SET boot = 'another boot'");
  }
  const ListChanges gone = told.look();
  QCOMPARE(ids_of(gone), Ids{run->id()});
  QCOMPARE(gone.rows.front().outcome.status, telemetry::RunStatus::interrupted);
  QVERIFY(told.look().empty());
}

void TestRunList::another_database_in_its_place_is_read_anew() {
  const Folder folder;
  ListCursor cursor;
  {
    RunStore store(folder.file("one.db"));
    for (int i = 0; i < 3; ++i)
      store.add_finished(new_run("of one"), outcome(telemetry::RunStatus::finished));
    QCOMPARE(RunReader(folder.file("one.db")).changes(cursor).rows.size(), std::size_t{3});
  }
  RunStore other(folder.file("other.db"));
  other.add_finished(new_run("of the other"), outcome(telemetry::RunStatus::finished));
  const ListChanges changes = RunReader(folder.file("other.db")).changes(cursor);
  QVERIFY(changes.all);
  QCOMPARE(ids_of(changes), Ids{1});
}

void TestRunList::any_changes_in_any_order() {
  const Folder folder;
  RunStore store(folder.file());
  RunStore other(folder.file());
  std::mt19937 random(7);
  Replayed told(folder.file());
  std::vector<std::unique_ptr<RunWriter>> open;
  Ids over;
  for (int i = 0; i < 300; ++i) {
    const auto any = [&] { return over[random() % over.size()]; };
    RunStore& writer = random() % 2 ? store : other;
    switch (over.empty() ? random() % 2 : random() % 7) {
    case 0:
      over.push_back(writer.add_finished(new_run("added"), outcome(telemetry::RunStatus::finished)));
      break;
    case 1:
      open.push_back(writer.begin(new_run("begun")));
      break;
    case 2:
      writer.rename(any(), "name " + std::to_string(i));
      break;
    case 3: {
      const std::int64_t id = any();
      writer.set_deleted({id}, true);
      std::erase(over, id);
      break;
    }
    case 4:
      if (!open.empty()) {
        open.back()->finish(outcome(telemetry::RunStatus::stopped));
        over.push_back(open.back()->id());
        open.pop_back();
      }
      break;
    case 5:
      if (!open.empty()) {
        open.front()->sink().record(record_at(i + 1));
        store.flush();
        other.flush();
      }
      break;
    default:
      if (random() % 4 == 0)
        writer.purge_deleted();
    }
    if (random() % 3 == 0) {
      told.look();
      QVERIFY2(told.right(), std::to_string(i).c_str());
    }
  }
}

BATCHSCOPE_TEST(TestRunList)
#include "tst_run_list.moc"
