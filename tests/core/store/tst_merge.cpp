#include <QTest>

#include <SQLiteCpp/SQLiteCpp.h>

#include "core/store/care/care.h"
#include "core/store/file/detail/migrations.h"
#include "core/store/run_reader.h"
#include "damaged_files.h"
#include "test_events.h"
#include "test_program.h"

using namespace batchscope;
using namespace batchscope::test;
using namespace batchscope::store;
using namespace batchscope::store::test;

namespace {

std::string content_of(const RunReader& reader, std::int64_t run) {
  std::string text = reader.run(run).name + reader.spec_json(run) + reader.environment_json(run);
  for (const telemetry::Event& event : reader.events(run))
    text += kind_text(event) + detail_text(event);
  for (const std::string& name : reader.series_names(run))
    for (const Point& point : reader.series(run, name))
      text.append(reinterpret_cast<const char*>(&point), sizeof point);
  return text;
}

std::int64_t train(RunStore& store, const std::string& name, std::optional<std::int64_t> sweep = {},
                   const std::string& start = "{}") {
  NewRun run = new_run(name);
  run.sweep = sweep;
  run.start_json = start;
  auto writer = store.begin(run);
  for (std::int64_t step = 1; step <= 1100; ++step)
    writer->sink().record(record_at(step));
  writer->finish(outcome(telemetry::RunStatus::finished));
  return writer->id();
}

} // namespace

class TestMerge : public QObject {
  Q_OBJECT

private Q_SLOTS:
  void init();
  void adds_runs_and_sweeps_once();
  void completes_a_run_that_went_on();
  void renumbers_searches();
  void an_older_format_is_left_as_it_is();
  void what_is_wrong_changes_nothing();
  void a_full_disk_changes_nothing();
  void a_locked_database_changes_nothing();

private:
  bool is_merging() const {
    const std::filesystem::directory_iterator files(folder_->path());
    return std::any_of(begin(files), end(files),
                       [](const auto& entry) { return entry.path().string().find(".merging") != std::string::npos; });
  }

  std::unique_ptr<Folder> folder_;
  std::filesystem::path a_, b_;
};

void TestMerge::init() {
  folder_ = std::make_unique<Folder>();
  a_ = folder_->file("a.db");
  b_ = folder_->file("b.db");
  RunStore a(a_);
  train(a, "own", a.add_sweep(R"({"batch": [1]})"));
}

void TestMerge::adds_runs_and_sweeps_once() {
  {
    RunStore b(b_);
    const std::int64_t sweep = b.add_sweep(R"({"batch": [2, 4]})");
    train(b, "one", sweep);
    train(b, "two", sweep);
    SweepQueue(b, sweep).add({{.name = "waits", .spec_json = R"({"batch": 8})"}});
    b.set_deleted({train(b, "deleted")}, true);
  }
  // What a merge left behind that was killed.
  constexpr const char* nobody = ".merging-999999999";
  std::filesystem::create_directory(a_.string() + nobody);
  const std::string before = bytes_in(b_);
  auto report = merge(a_, b_);
  QVERIFY(bytes_in(b_) == before);
  using Numbers = std::vector<std::pair<std::int64_t, std::int64_t>>;
  QCOMPARE(report.added, (Numbers{{1, 2}, {2, 3}}));
  QCOMPARE(report.known, std::size_t(0));
  {
    const RunReader a(a_);
    const RunReader b(b_);
    QCOMPARE(a.list().size(), std::size_t(3));
    QVERIFY(content_of(a, 2) == content_of(b, 1));
    QVERIFY(content_of(a, 3) == content_of(b, 2));
    QCOMPARE(a.run(2).uid, b.run(1).uid);
    QCOMPARE(a.runs_of_sweep(2), (std::vector<std::int64_t>{2, 3}));
    QCOMPARE(a.sweep_json(2), std::string(R"({"batch": [2, 4]})"));
    QCOMPARE(a.check(), std::vector<std::string>{});
  }
  {
    RunStore b(b_);
    train(b, "three", 1);
    b.rename(1, "renamed there");
    RunStore(a_).rename(2, "renamed here");
  }
  report = merge(a_, b_);
  QCOMPARE(report.added, (Numbers{{5, 5}}));
  QCOMPARE(report.known, std::size_t(2));
  QCOMPARE(RunReader(a_).runs_of_sweep(2), (std::vector<std::int64_t>{2, 3, 5}));
  QCOMPARE(RunReader(a_).run(2).name, std::string("renamed here"));
  report = merge(a_, b_);
  QCOMPARE(report.added.size() + report.completed.size(), std::size_t(0));
  // A database that is not there yet is made.
  const auto c = folder_->file("c.db");
  QCOMPARE(merge(c, a_).added.size(), std::size_t(4));
  QVERIFY(content_of(RunReader(c), 5) == content_of(RunReader(a_), 5));
  QVERIFY(!is_merging());
}

void TestMerge::completes_a_run_that_went_on() {
  RunStore b(b_);
  auto run = b.begin(new_run("goes on"));
  run->sink().record(record_at(1));
  b.flush();
  const std::int64_t id = merge(a_, b_).added.at(0).second;
  QCOMPARE(RunReader(a_).run(id).outcome.status, telemetry::RunStatus::interrupted);
  run->sink().record(record_at(2));
  run->finish(outcome(telemetry::RunStatus::finished));
  RunStore(a_).set_note(id, "kept");
  const auto report = merge(a_, b_);
  QCOMPARE(report.completed.size(), std::size_t(1));
  const RunReader a(a_);
  QCOMPARE(a.run(id).outcome.status, telemetry::RunStatus::finished);
  QCOMPARE(a.series(id, "loss").size(), std::size_t(2));
  QCOMPARE(a.run(id).note, std::string("kept"));
  QCOMPARE(a.check(), std::vector<std::string>{});
}

void TestMerge::renumbers_searches() {
  {
    RunStore a(a_);
    a.add_search("{}", R"({"largest": 1})");
    RunStore b(b_);
    train(b, "chosen", {}, R"({"batch":8,"search":1,"learning_rate":0.1})");
    b.add_search("{}", R"({"largest": 8})");
  }
  merge(a_, b_);
  const RunReader a(a_);
  QCOMPARE(a.search_json(2), std::string(R"({"largest": 8})"));
  QCOMPARE(a.start_json(2), std::string(R"({"batch":8,"search":2,"learning_rate":0.1})"));
  merge(a_, b_);
  QCOMPARE(RunReader(a_).searches().size(), std::size_t(2));
}

void TestMerge::an_older_format_is_left_as_it_is() {
  {
    SQLite::Database database(b_.string(), SQLite::OPEN_READWRITE | SQLite::OPEN_CREATE);
    const auto steps = store::detail::embedded_migrations();
    for (std::size_t step = 0; step < 3; ++step)
      database.exec(std::string(steps[step]));
    database.exec(
        "INSERT INTO run (uid, name, status, reason, started, spec, start, steps, examples_seen, oom_events, "
        "peak_bytes) VALUES ('0123', 'old', 'finished', '', '2026-01-01T00:00:00Z', '{}', '{}', 3, 24, 0, 1)");
    database.exec("PRAGMA application_id = " + std::to_string(store::detail::application_id) +
                  "; PRAGMA user_version = 3");
  }
  const std::string before = bytes_in(b_);
  QCOMPARE(merge(a_, b_).added.size(), std::size_t(1));
  QVERIFY(bytes_in(b_) == before);
  QCOMPARE(RunReader(a_).run(2).name, std::string("old"));
}

void TestMerge::what_is_wrong_changes_nothing() {
  const std::string before = all_read(a_);
  Error::Kind kind{};
  QVERIFY(!error_of([&] { merge(a_, folder_->file("none.db")); }, &kind).empty());
  QCOMPARE(kind, Error::Kind::input);
  QCOMPARE(error_of([&] { merge(a_, a_); }), a_.string() + " and " + a_.string() + " are the same database");
  std::ofstream(folder_->file("text.db")) << "text";
  QVERIFY(error_of([&] { merge(a_, folder_->file("text.db")); }).find("not a BatchScope database") !=
          std::string::npos);
  QVERIFY(!error_of([&] { merge(folder_->file("new.db"), folder_->file("text.db")); }).empty());
  QVERIFY(!std::filesystem::exists(folder_->file("new.db")));
  {
    RunStore b(b_);
    train(b, "damaged");
  }
  SQLite::Database(b_.string(), SQLite::OPEN_READWRITE).exec("UPDATE run SET name = 'other'");
  const std::string error = error_of([&] { merge(a_, b_); }, &kind);
  QVERIFY2(error.starts_with(b_.string() + ": damaged (run 1: name damaged (checksum)); "), error.c_str());
  QCOMPARE(kind, Error::Kind::failed);
  QVERIFY(all_read(a_) == before);
}

void TestMerge::a_full_disk_changes_nothing() {
  {
    RunStore b(b_);
    for (int i = 0; i < 3; ++i)
      train(b, "run");
  }
  const std::string before = all_read(a_);
  // In the copy first, then in the log of the database.
  int failures = 0;
  for (std::uintmax_t limit = 40'000;; limit += limit / 2) {
    Error::Kind kind{};
    std::string error;
    {
      const FileSizeLimit full(limit);
      error = error_of([&] { merge(a_, b_); }, &kind);
    }
    if (error.empty())
      break;
    ++failures;
    QVERIFY2(error.find("free some space") != std::string::npos, error.c_str());
    QCOMPARE(kind, Error::Kind::failed);
    QVERIFY(all_read(a_) == before);
    QVERIFY(!is_merging());
  }
  QVERIFY(failures > 2);
  QCOMPARE(RunReader(a_).list().size(), std::size_t(4));
}

void TestMerge::a_locked_database_changes_nothing() {
  {
    RunStore b(b_);
    train(b, "run");
  }
  const std::string before = all_read(a_);
  SQLite::Database other(a_.string(), SQLite::OPEN_READWRITE);
  other.exec("BEGIN IMMEDIATE");
  const std::string error = error_of([&] { merge(a_, b_); });
  QVERIFY2(error.starts_with(a_.string() + ": locked by another program"), error.c_str());
  other.exec("ROLLBACK");
  QVERIFY(all_read(a_) == before);
}

BATCHSCOPE_TEST(TestMerge)
#include "tst_merge.moc"
