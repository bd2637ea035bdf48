#include <QTest>

#include <fstream>
#include <iterator>
#include <latch>
#include <set>
#include <thread>

#include <SQLiteCpp/SQLiteCpp.h>

#include "core/store/file/detail/database.h"
#include "core/store/file/detail/migrations.h"
#include "core/store/run_reader.h"
#include "earlier_database.h"
#include "store_test.h"
#include "test_program.h"

using namespace batchscope;
using namespace batchscope::store;
using namespace batchscope::store::test;
using std::chrono::milliseconds;
namespace fs = std::filesystem;

namespace {

const int newest = static_cast<int>(store::detail::embedded_migrations().size());
const std::string newest_backup = "runs.db.format-" + std::to_string(newest) + ".backup";

void write_text(const fs::path& file, const std::string& text) {
  std::ofstream(file, std::ios::binary) << text;
}

/// But for the ledgers, one beside each database that was written to.
std::set<std::string> names_in(const fs::path& folder) {
  std::set<std::string> names;
  for (const auto& entry : fs::directory_iterator(folder))
    if (const std::string name = entry.path().filename(); !name.ends_with("-ledger"))
      names.insert(name);
  return names;
}

// A closed database with one finished run of 10 steps.
void make(const fs::path& file) {
  RunStore store(file);
  auto run = store.begin(new_run("made"));
  for (std::int64_t step = 1; step <= 10; ++step)
    run->sink().record(record_at(step));
  run->finish(outcome(telemetry::RunStatus::finished));
}

// What both ways of opening say, which must be an error of bad input.
std::string refusal(bool writing, const fs::path& file) {
  Error::Kind kind = Error::Kind::failed;
  const std::string error = error_of(
      [&] {
        if (writing)
          RunStore(file, StoreOptions{.interval = milliseconds(250), .patience = milliseconds(50), .max_waiting = 100});
        else
          RunReader{file};
      },
      &kind);
  return error.empty() || kind == Error::Kind::input ? error : "not an input error: " + error;
}

} // namespace

class TestDatabase : public QObject {
  Q_OBJECT

private Q_SLOTS:
  void makes_the_file_and_its_folder();
  void is_set_up_as_documented();
  void refuses_what_is_no_database_of_ours();
  void a_reader_makes_nothing();
  void an_empty_file_becomes_a_database_by_writing_only();
  void refuses_what_may_not_be_written();
  void reads_in_a_folder_that_may_not_be_written();
  void falls_back_where_there_is_no_wal();
  void a_locked_file_is_refused_with_its_name();
  void two_stores_write_to_one_file();
  void older_files_are_copied_and_brought_up_to_date();
  void a_backup_that_is_there_is_kept();
  void several_at_once_make_one_backup();
  void format_1_becomes_the_present_one();
  void every_older_format_becomes_the_present_one_data();
  void every_older_format_becomes_the_present_one();
  void a_database_of_an_earlier_version_is_whole();
  void a_migration_that_fails_changes_nothing();
  void default_place();
};

void TestDatabase::makes_the_file_and_its_folder() {
  const Folder folder;
  const fs::path file = folder.path() / "new folder ü%?#" / "deep" / "runs.db";
  make(file);
  QCOMPARE(RunReader(file).list().size(), std::size_t(1));
  QCOMPARE(names_in(file.parent_path()), (std::set<std::string>{"runs.db"}));
}

void TestDatabase::is_set_up_as_documented() {
  const Folder folder;
  SQLite::Database database = store::detail::open_for_writing(folder.file(), milliseconds(1234));
  const auto pragma = [&](const std::string& name) { return database.execAndGet("PRAGMA " + name).getString(); };
  QCOMPARE(pragma("journal_mode"), std::string("wal"));
  QCOMPARE(pragma("synchronous"), std::string("1"));
  store::detail::set_durability(database, store::detail::Durability::status);
  QCOMPARE(pragma("synchronous"), std::string("2"));
  QCOMPARE(pragma("foreign_keys"), std::string("1"));
  QCOMPARE(pragma("trusted_schema"), std::string("0"));
  QCOMPARE(pragma("cell_size_check"), std::string("1"));
  QCOMPARE(pragma("busy_timeout"), std::string("1234"));
  QCOMPARE(pragma("application_id"), std::to_string(store::detail::application_id));
  QCOMPARE(pragma("user_version"), std::to_string(newest));
  const int loose = database.execAndGet("SELECT count(*) FROM pragma_table_list WHERE schema = 'main' AND NOT strict "
                                        "AND name NOT LIKE 'sqlite_%'");
  QCOMPARE(loose, 0);
}

void TestDatabase::refuses_what_is_no_database_of_ours() {
  const Folder folder;
  write_text(folder.file("notes.txt"), "some text\n");
  write_text(folder.file("long.txt"), std::string(5000, 'x'));
  write_text(folder.file("cut.db"), std::string("SQLite format 3\0", 16));
  SQLite::Database(folder.file("foreign.db").string(), SQLite::OPEN_READWRITE | SQLite::OPEN_CREATE)
      .exec("PRAGMA journal_mode = WAL; CREATE TABLE t (x); INSERT INTO t VALUES (1)");
  make(folder.file("newer.db"));
  SQLite::Database(folder.file("newer.db").string(), SQLite::OPEN_READWRITE)
      .exec("PRAGMA user_version = " + std::to_string(newest + 2));
  for (const char* format : {"-3", "0"}) {
    const fs::path file = folder.file(std::string("format") + format + ".db");
    make(file);
    SQLite::Database(file.string(), SQLite::OPEN_READWRITE).exec(std::string("PRAGMA user_version = ") + format);
  }
  fs::create_directory(folder.file("folder"));
  const auto before = names_in(folder.path());
  const std::string text = text_of(folder.file("foreign.db"));
  for (const bool writing : {true, false}) {
    for (const char* format : {"-3", "0"}) {
      const fs::path file = folder.file(std::string("format") + format + ".db");
      QCOMPARE(refusal(writing, file),
               file.string() + ": is damaged: its format is " + format + "; accepted: 1 to " + std::to_string(newest));
    }
    for (const char* name : {"notes.txt", "long.txt", "cut.db"})
      QCOMPARE(refusal(writing, folder.file(name)),
               folder.file(name).string() + ": not a BatchScope database; use another file");
    QCOMPARE(refusal(writing, folder.file("foreign.db")),
             folder.file("foreign.db").string() + ": not a BatchScope database (it belongs to another program)");
    QCOMPARE(refusal(writing, folder.file("newer.db")),
             folder.file("newer.db").string() + ": was written by a newer version of BatchScope (format " +
                 std::to_string(newest + 2) + "; this version reads up to " + std::to_string(newest) + ")");
    QCOMPARE(refusal(writing, folder.file("folder")), folder.file("folder").string() +
                                                          ": is a folder; give a file in it, such as " +
                                                          folder.file("folder/runs.db").string());
    QCOMPARE(refusal(writing, ""), std::string("the run database: the path is empty; give a file such as runs.db"));
    QCOMPARE(refusal(writing, "/dev/null"),
             std::string("/dev/null: not a regular file; give another one as the run database"));
    QVERIFY(!refusal(writing, folder.file("notes.txt/runs.db")).empty());
  }
  QCOMPARE(text_of(folder.file("notes.txt")), std::string("some text\n"));
  QVERIFY(text_of(folder.file("foreign.db")) == text);
  QCOMPARE(names_in(folder.path()), before);
}

void TestDatabase::a_reader_makes_nothing() {
  const Folder folder;
  QCOMPARE(refusal(false, folder.file()),
           folder.file().string() + ": no such run database; the first stored run creates it");
  QCOMPARE(names_in(folder.path()), std::set<std::string>{});
  make(folder.file());
  const std::string bytes = text_of(folder.file());
  {
    const RunReader reader(folder.file());
    QCOMPARE(reader.list().size(), std::size_t(1));
  }
  QVERIFY(text_of(folder.file()) == bytes);
  QCOMPARE(names_in(folder.path()), (std::set<std::string>{"runs.db"}));
}

void TestDatabase::an_empty_file_becomes_a_database_by_writing_only() {
  const Folder folder;
  write_text(folder.file(), "");
  QCOMPARE(refusal(false, folder.file()), folder.file().string() + ": empty; no run was stored in it yet");
  QCOMPARE(refusal(true, folder.file()), std::string());
  QCOMPARE(RunReader(folder.file()).list().size(), std::size_t(0));
}

void TestDatabase::refuses_what_may_not_be_written() {
  const Folder folder;
  make(folder.file());
  fs::permissions(folder.path(), fs::perms(0777));
  fs::permissions(folder.file(), fs::perms(0444));
  {
    const OrdinaryUser user;
    if (user.is_root())
      QSKIP("root cannot become an ordinary user here");
    QCOMPARE(refusal(true, folder.file()),
             folder.file().string() + ": cannot be written; change its permissions, or use another file");
  }
  fs::permissions(folder.file(), fs::perms(0000));
  {
    const OrdinaryUser user;
    QCOMPARE(refusal(false, folder.file()),
             folder.file().string() + ": cannot be read; change its permissions, or use another file");
  }
  fs::permissions(folder.file(), fs::perms(0666));
  fs::permissions(folder.path(), fs::perms(0555));
  const OrdinaryUser user;
  const std::string read_only = folder.path().string() + ": the run database's folder cannot be written; change its "
                                                         "permissions, or give a file elsewhere";
  QCOMPARE(refusal(true, folder.file()), read_only);
  QCOMPARE(refusal(true, folder.file("other.db")), read_only);
  QVERIFY(!refusal(true, folder.path() / "sub" / "runs.db").empty());
}

void TestDatabase::reads_in_a_folder_that_may_not_be_written() {
  const Folder folder;
  const fs::path sub = folder.path() / "read%only?#";
  const fs::path file = sub / "runs.db";
  make(file);
  fs::permissions(folder.path(), fs::perms(0755));
  fs::permissions(file, fs::perms(0444));
  fs::permissions(sub, fs::perms(0555));
  const auto read = [&] {
    const OrdinaryUser user;
    return RunReader(file).series(1, "loss").size();
  };
  QCOMPARE(read(), std::size_t(10));
  // With writes that only the WAL has, reading the file alone would leave them out without a word.
  fs::permissions(sub, fs::perms(0777));
  write_text(sub / "runs.db-wal", "something");
  fs::permissions(sub / "runs.db-wal", fs::perms(0444));
  fs::permissions(sub, fs::perms(0555));
  {
    const OrdinaryUser user;
    const std::string error = refusal(false, file);
    QVERIFY2(error.find("runs.db-wal has changes that are not merged into it yet") != std::string::npos, error.c_str());
  }
  fs::permissions(sub, fs::perms(0777));
}

void TestDatabase::falls_back_where_there_is_no_wal() {
  const Folder folder;
  // This file layer of SQLite has no shared memory, as a network file system has none.
  SQLite::Database database = store::detail::open_for_writing(folder.file(), milliseconds(100), "unix-dotfile");
  QCOMPARE(database.execAndGet("PRAGMA journal_mode").getString(), std::string("truncate"));
  QCOMPARE(database.execAndGet("PRAGMA synchronous").getInt(), 2);
  database.exec("INSERT INTO sweep (created, spec) VALUES ('now', '{}')");
  QCOMPARE(database.execAndGet("SELECT count(*) FROM sweep").getInt(), 1);
}

void TestDatabase::a_locked_file_is_refused_with_its_name() {
  const Folder folder;
  make(folder.file());
  SQLite::Database other(folder.file().string(), SQLite::OPEN_READWRITE);
  other.exec("BEGIN IMMEDIATE");
  const std::string locked =
      folder.file().string() + ": locked by another program; wait until it is done, or use another file";
  QCOMPARE(refusal(true, folder.file()), locked);
  QCOMPARE(refusal(false, folder.file()), std::string()); // readers need not wait for a writer
  other.exec("ROLLBACK");
  QCOMPARE(refusal(true, folder.file()), std::string());
}

void TestDatabase::two_stores_write_to_one_file() {
  const Folder folder;
  RunStore first(folder.file());
  RunStore second(folder.file());
  auto a = first.begin(new_run("a"));
  auto b = second.begin(new_run("b"));
  for (std::int64_t step = 1; step <= 3000; ++step) {
    a->sink().record(record_at(step));
    b->sink().record(record_at(step));
  }
  a->finish(outcome(telemetry::RunStatus::finished));
  b->finish(outcome(telemetry::RunStatus::finished));
  const RunReader reader(folder.file());
  QCOMPARE(reader.series(a->id(), "loss").size(), std::size_t(3000));
  QCOMPARE(reader.series(b->id(), "loss").size(), std::size_t(3000));
  QCOMPARE(reader.check(), std::vector<std::string>{});
}

void TestDatabase::older_files_are_copied_and_brought_up_to_date() {
  const Folder folder;
  make(folder.file());
  auto steps = store::detail::embedded_migrations();
  steps.emplace_back("ALTER TABLE run ADD COLUMN colour TEXT NOT NULL DEFAULT ''");
  {
    SQLite::Database database(folder.file().string(), SQLite::OPEN_READWRITE);
    store::detail::migrate(database, folder.file(), steps);
    QCOMPARE(database.execAndGet("PRAGMA user_version").getInt(), newest + 1);
    QCOMPARE(database.execAndGet("SELECT name || colour FROM run").getString(), std::string("made"));
    store::detail::migrate(database, folder.file(), steps); // nothing is left to do
  }
  QCOMPARE(names_in(folder.path()), (std::set<std::string>{"runs.db", newest_backup}));
  const RunReader backup(folder.file(newest_backup));
  QCOMPARE(backup.series(1, "loss").size(), std::size_t(10));
  QCOMPARE(backup.check(), std::vector<std::string>{});
  const std::string newer = "newer version of BatchScope (format " + std::to_string(newest + 1) +
                            "; this version reads up to " + std::to_string(newest) + ")";
  QVERIFY(refusal(false, folder.file()).find(newer) != std::string::npos);
}

void TestDatabase::a_backup_that_is_there_is_kept() {
  const Folder folder;
  make(folder.file());
  write_text(folder.file(newest_backup), "precious");
  auto steps = store::detail::embedded_migrations();
  steps.emplace_back("CREATE TABLE more (x INTEGER) STRICT");
  {
    SQLite::Database database(folder.file().string(), SQLite::OPEN_READWRITE);
    store::detail::migrate(database, folder.file(), steps);
  }
  QCOMPARE(text_of(folder.file(newest_backup)), std::string("precious"));
  QCOMPARE(names_in(folder.path()), (std::set<std::string>{"runs.db", newest_backup, newest_backup + "-2"}));
  QCOMPARE(RunReader(folder.file(newest_backup + "-2")).series(1, "loss").size(), std::size_t(10));
}

void TestDatabase::several_at_once_make_one_backup() {
  auto steps = store::detail::embedded_migrations();
  steps.emplace_back("CREATE TABLE more (x INTEGER) STRICT");
  for (int round = 0; round < 5; ++round) {
    const Folder folder;
    make(folder.file());
    constexpr int count = 4;
    std::latch together(count);
    std::vector<std::string> errors(count);
    std::vector<std::thread> all;
    for (std::string& error : errors)
      all.emplace_back([&] {
        SQLite::Database database(folder.file().string(), SQLite::OPEN_READWRITE, 10'000);
        together.arrive_and_wait();
        error = error_of([&] {
          store::detail::guarded(folder.file(), [&] { store::detail::migrate(database, folder.file(), steps); });
        });
      });
    for (std::thread& each : all)
      each.join();
    QCOMPARE(errors, std::vector<std::string>(count));
    QCOMPARE(names_in(folder.path()), (std::set<std::string>{"runs.db", newest_backup}));
    const RunReader backup(folder.file(newest_backup)); // of the format before
    QCOMPARE(backup.series(1, "loss").size(), std::size_t(10));
  }
}

void TestDatabase::format_1_becomes_the_present_one() {
  const Folder folder;
  make(folder.file());
  {
    // What the first format did not have is taken away again; the rest of both is the same.
    SQLite::Database database(folder.file().string(), SQLite::OPEN_READWRITE);
    database.exec("DROP TRIGGER run_inserted; DROP TRIGGER run_updated; DROP TRIGGER run_removed;"
                  "DROP INDEX run_changed; ALTER TABLE run DROP COLUMN changed; DROP TABLE run_changes;"
                  "DROP TABLE identity; DROP TABLE command; ALTER TABLE run DROP COLUMN note; ALTER TABLE run DROP "
                  "COLUMN deleted;"
                  "ALTER TABLE run DROP COLUMN position; ALTER TABLE run DROP COLUMN reserved_bytes;"
                  "ALTER TABLE run DROP COLUMN workers; ALTER TABLE run DROP COLUMN settings_key;"
                  "ALTER TABLE run DROP COLUMN disturbed;"
                  "ALTER TABLE run DROP COLUMN environment; ALTER TABLE run DROP COLUMN tags; DROP TABLE view;"
                  "ALTER TABLE run DROP COLUMN checks; ALTER TABLE event DROP COLUMN checks;"
                  "ALTER TABLE sweep DROP COLUMN checks; ALTER TABLE search DROP COLUMN checks;"
                  "ALTER TABLE series DROP COLUMN checks; ALTER TABLE process DROP COLUMN checks;"
                  "PRAGMA user_version = 1");
    SQLite::Database first(":memory:", SQLite::OPEN_READWRITE);
    first.exec(std::string(store::detail::embedded_migrations().front()));
    const char* columns = "SELECT group_concat(name || type || \"notnull\" || coalesce(dflt_value, '-')) FROM "
                          "pragma_table_info('run')";
    QCOMPARE(database.execAndGet(columns).getString(), first.execAndGet(columns).getString());
    const char* objects = "SELECT count(*) FROM sqlite_schema WHERE name NOT LIKE 'sqlite_%'";
    QCOMPARE(database.execAndGet(objects).getInt(), first.execAndGet(objects).getInt());
  }
  const std::string older = folder.file().string() +
                            ": was written by an older version of BatchScope (format 1; this version reads " +
                            std::to_string(newest) + "); the next command that writes to it upgrades it";
  QCOMPARE(refusal(false, folder.file()), older);
  QCOMPARE(error_of([&] { check_usable(folder.file()); }), std::string());
  QCOMPARE(names_in(folder.path()), std::set<std::string>{"runs.db"});
  {
    RunStore store(folder.file());
    store.set_note(1, "kept");
    auto run = store.begin(new_run("after"));
    store.send(run->id(), {.verb = "pause"});
    run->finish(outcome(telemetry::RunStatus::finished));
  }
  QCOMPARE(names_in(folder.path()), (std::set<std::string>{"runs.db", "runs.db.format-1.backup"}));
  const RunReader reader(folder.file());
  QCOMPARE(reader.run(1).note, std::string("kept"));
  QCOMPARE(reader.run(2).note, std::string());
  QCOMPARE(reader.series(1, "loss").size(), std::size_t(10));
  QCOMPARE(reader.deleted().size(), std::size_t(0));
  QCOMPARE(reader.check(), std::vector<std::string>{});
  SQLite::Database backup(folder.file("runs.db.format-1.backup").string(), SQLite::OPEN_READONLY);
  QCOMPARE(backup.execAndGet("PRAGMA user_version").getInt(), 1);
  QCOMPARE(backup.execAndGet("SELECT name FROM run").getString(), std::string("made"));
}

void TestDatabase::every_older_format_becomes_the_present_one_data() {
  QTest::addColumn<int>("format");
  for (int format = 1; format < newest; ++format)
    QTest::addRow("%d", format) << format;
}

/// A file as the version of that format left it, with a run.
void TestDatabase::every_older_format_becomes_the_present_one() {
  QFETCH(int, format);
  const Folder folder;
  {
    SQLite::Database database(folder.file().string(), SQLite::OPEN_READWRITE | SQLite::OPEN_CREATE);
    const auto steps = store::detail::embedded_migrations();
    for (int step = 0; step < format; ++step)
      database.exec(std::string(steps[static_cast<std::size_t>(step)]));
    database.exec("INSERT INTO run (uid, name, status, reason, started, spec, start, batch, steps, examples_seen, "
                  "oom_events, peak_bytes, loss) VALUES ('0123', 'old', 'finished', '', '2026-01-01T00:00:00Z', "
                  "'{\"model\":\"cnn\"}', '{}', 8, 3, 24, 0, 100, 0.5)");
    database.exec("PRAGMA application_id = " + std::to_string(store::detail::application_id) +
                  "; PRAGMA user_version = " + std::to_string(format));
  }
  {
    RunStore store(folder.file());
    store.begin(new_run("new"))->finish(outcome(telemetry::RunStatus::finished));
  }
  const RunReader reader(folder.file());
  const auto rows = reader.list();
  QCOMPARE(rows.size(), std::size_t(2));
  QCOMPARE(rows[0].name, std::string("old"));
  QCOMPARE(*rows[0].settings.model, std::string("cnn"));
  QCOMPARE(rows[0].workers, std::int64_t(1));
  QCOMPARE(*rows[0].outcome.loss, 0.5);
  QCOMPARE(reader.check(), std::vector<std::string>{});
  const std::string backup = "runs.db.format-" + std::to_string(format) + ".backup";
  SQLite::Database before(folder.file(backup).string(), SQLite::OPEN_READONLY);
  QCOMPARE(before.execAndGet("SELECT name FROM run").getString(), std::string("old"));
}

/// With its series, events and sweep, all with their checksums.
void TestDatabase::a_database_of_an_earlier_version_is_whole() {
  const Folder folder;
  make_of_format_6(folder.file());
  RunStore store(folder.file());
  const RunReader reader(folder.file());
  QCOMPARE(reader.check(), std::vector<std::string>{});
  QCOMPARE(reader.list().size(), std::size_t(5));
  QCOMPARE(reader.series(5, "loss").size(), std::size_t(3));
  QCOMPARE(reader.runs_of_sweep(1).size(), std::size_t(4));
  QCOMPARE(reader.searches().size(), std::size_t(1));
  QCOMPARE(reader.settings_key(1), std::string());
  const auto events = reader.events(5);
  QCOMPARE(events.size(), std::size_t(2));
  const auto* error = std::get_if<telemetry::OutOfMemory>(&events[0].body);
  QVERIFY(error != nullptr);
  QVERIFY(telemetry::survived(*error));
  QCOMPARE(*error->split_to, std::int64_t(34));
}

void TestDatabase::a_migration_that_fails_changes_nothing() {
  const Folder folder;
  make(folder.file());
  auto steps = store::detail::embedded_migrations();
  steps.emplace_back("CREATE TABLE half (x) STRICT; this is no SQL");
  SQLite::Database database(folder.file().string(), SQLite::OPEN_READWRITE);
  QVERIFY_EXCEPTION_THROWN(store::detail::migrate(database, folder.file(), steps), SQLite::Exception);
  QCOMPARE(database.execAndGet("PRAGMA user_version").getInt(), newest);
  QVERIFY(!database.tableExists("half"));
}

void TestDatabase::default_place() {
  qputenv("HOME", "/home/someone");
  qunsetenv("XDG_DATA_HOME");
  qunsetenv("BATCHSCOPE_DB");
  QCOMPARE(default_database(), fs::path("/home/someone/.local/share/batchscope/runs.db"));
  qputenv("XDG_DATA_HOME", "/data");
  QCOMPARE(default_database(), fs::path("/data/batchscope/runs.db"));
  qputenv("BATCHSCOPE_DB", "mine.db");
  QCOMPARE(default_database(), fs::path("mine.db"));
  qunsetenv("BATCHSCOPE_DB");
  qunsetenv("XDG_DATA_HOME");
  qunsetenv("HOME");
  QVERIFY(error_of([] { default_database(); }).find("give a file with --db") != std::string::npos);
}

BATCHSCOPE_TEST(TestDatabase)
#include "tst_database.moc"
