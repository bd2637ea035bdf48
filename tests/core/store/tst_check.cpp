#include <QTest>

#include <algorithm>
#include <fstream>
#include <iterator>

#include <SQLiteCpp/SQLiteCpp.h>

#include "core/store/run_reader.h"
#include "store_test.h"
#include "test_program.h"

using namespace batchscope;
using namespace batchscope::store;
using namespace batchscope::store::test;

namespace {

std::string bytes_of(const std::filesystem::path& file) {
  std::ifstream stream(file, std::ios::binary);
  return {std::istreambuf_iterator<char>(stream), {}};
}

void write_bytes(const std::filesystem::path& file, const std::string& bytes) {
  std::ofstream(file, std::ios::binary) << bytes;
}

// A closed database with a run of 3,000 sealed points a series.
void make_sealed(const std::filesystem::path& file) {
  RunStore store(file);
  auto sealed = store.begin(new_run("sealed"));
  for (std::int64_t step = 1; step <= 3000; ++step)
    sealed->sink().record(record_at(step));
  sealed->finish(outcome(telemetry::RunStatus::finished));
}

bool mentions(const std::vector<std::string>& lines, const std::string& text) {
  return std::any_of(lines.begin(), lines.end(),
                     [&](const std::string& line) { return line.find(text) != std::string::npos; });
}

QByteArray shown(const std::vector<std::string>& lines) {
  QByteArray text;
  for (const std::string& line : lines)
    text += QByteArray::fromStdString(line) + "\n";
  return text;
}

} // namespace

class TestCheck : public QObject {
  Q_OBJECT

private Q_SLOTS:
  void a_flipped_bit_of_a_value_is_found();
  void changes_behind_our_back_are_found_data();
  void changes_behind_our_back_are_found();
  void damaged_pages_are_found();
  void a_damaged_tail_is_found();
};

void TestCheck::a_flipped_bit_of_a_value_is_found() {
  const Folder folder;
  make_sealed(folder.file());
  QCOMPARE(RunReader(folder.file()).check(), std::vector<std::string>{});
  std::string bytes = bytes_of(folder.file());
  const double value = record_at(2000).grad_norm;
  const std::size_t at = bytes.find(std::string(reinterpret_cast<const char*>(&value), sizeof value));
  QVERIFY(at != std::string::npos);
  bytes[at] = static_cast<char>(bytes[at] ^ 1);
  write_bytes(folder.file(), bytes);
  const RunReader reader(folder.file());
  const auto lines = reader.check();
  QVERIFY2(mentions(lines, "run 1: series grad_norm: points 1024 to 2047 have damaged values (checksum)"),
           shown(lines));
  QVERIFY2(!mentions(lines, "series loss"), shown(lines));
  // Reading what is damaged is refused, the rest can be read.
  Error::Kind kind{};
  QVERIFY(error_of([&] { reader.series(1, "grad_norm"); }, &kind).find("points 1024 to 2047") != std::string::npos);
  QCOMPARE(kind, Error::Kind::failed);
  QCOMPARE(reader.series(1, "loss").size(), std::size_t(3000));
}

void TestCheck::changes_behind_our_back_are_found_data() {
  QTest::addColumn<QString>("change");
  QTest::addColumn<QString>("line");
  const auto row = [](const char* change, const char* line) {
    QTest::newRow(change) << QString(change) << QString(line);
  };
  row("DELETE FROM value_chunk WHERE series = 10 AND first = 1024", "series loss: points 1024 to 2047 are missing");
  row("DELETE FROM value_chunk WHERE series = 10 AND first = 2048", "series loss: 2048 points instead of 3000");
  row("DELETE FROM step_chunk WHERE first = 0", "series loss: points 0 to 1023 have no steps");
  row("UPDATE step_chunk SET last_step = 5 WHERE first = 0", "series loss: points 0 to 1023 have damaged steps");
  row("UPDATE step_chunk SET n = 1000 WHERE first = 0", "series loss: points 0 to 1023 have damaged steps");
  row("UPDATE value_chunk SET n = 1000 WHERE series = 10 AND first = 0", "series loss: points 0 to 999 have damaged");
  row("UPDATE value_chunk SET n = -1 WHERE series = 10 AND first = 0", "series loss: points 0 to -2 have damaged");
  row("UPDATE value_chunk SET n = 1 << 61, data = x'', crc = 0 WHERE series = 10", "have damaged");
  row("UPDATE value_chunk SET max = 2 WHERE series = 10 AND first = 0", "a minimum or maximum other than");
  row("UPDATE series SET last = 17 WHERE name = 'loss'", "series loss: its summary does not match its points");
  row("UPDATE series SET n = 2999 WHERE name = 'loss'", "series loss: 3000 points instead of 2999");
  row("PRAGMA foreign_keys = OFF; DELETE FROM run", "table series: row 1 refers to a missing row of run");
}

void TestCheck::changes_behind_our_back_are_found() {
  QFETCH(QString, change);
  QFETCH(QString, line);
  const Folder folder;
  make_sealed(folder.file());
  SQLite::Database(folder.file().string(), SQLite::OPEN_READWRITE).exec(change.toStdString());
  const auto lines = RunReader(folder.file()).check();
  QVERIFY2(mentions(lines, line.toStdString()), shown(lines));
}

// Whatever is overwritten: the answer is lines or one Error, never a crash or another exception.
void TestCheck::damaged_pages_are_found() {
  const Folder folder;
  make_sealed(folder.file());
  // Pages that are free hold nothing, so damage to them is none; VACUUM leaves no such page.
  SQLite::Database(folder.file().string(), SQLite::OPEN_READWRITE).exec("VACUUM");
  const std::string whole = bytes_of(folder.file());
  constexpr std::size_t page = 4096;
  int found = 0;
  for (std::size_t number = 0; number < whole.size() / page; number += 3) {
    std::string bytes = whole;
    std::fill_n(bytes.begin() + static_cast<std::ptrdiff_t>(number * page), page, '\xa5');
    write_bytes(folder.file("damaged.db"), bytes);
    std::vector<std::string> lines;
    const std::string error = error_of([&] { lines = RunReader(folder.file("damaged.db")).check(); });
    found += !error.empty() || !lines.empty() ? 1 : 0;
    QVERIFY2(!error.empty() || !lines.empty(), qPrintable(QString("page %1").arg(number)));
  }
  QVERIFY(found > 10);
}

void TestCheck::a_damaged_tail_is_found() {
  const Folder folder;
  RunStore store(folder.file());
  auto run = store.begin(new_run("tail"));
  for (std::int64_t step = 1; step <= 100; ++step)
    run->sink().record(record_at(step));
  store.flush();
  SQLite::Database database(folder.file().string(), SQLite::OPEN_READWRITE, 5000);
  database.exec("UPDATE tail SET data = zeroblob(length(data)) WHERE number = 50");
  auto lines = RunReader(folder.file()).check();
  QVERIFY2(mentions(lines, "series loss: point 50 is damaged (checksum)"), shown(lines));
  database.exec("DELETE FROM tail WHERE number = 50");
  lines = RunReader(folder.file()).check();
  QVERIFY2(mentions(lines, "series loss: points 50 to 50 are missing"), shown(lines));
}

BATCHSCOPE_TEST(TestCheck)
#include "tst_check.moc"
