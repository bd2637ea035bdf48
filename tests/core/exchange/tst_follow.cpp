#include "core/exchange/follow.h"

#include <chrono>
#include <fstream>
#include <map>
#include <memory>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

#include <QTest>

#include "core/base/error.h"
#include "core/exchange/detail/event_file.h"
#include "core/exchange/import.h"
#include "test_program.h"
#include "tests/core/store/store_test.h"

using namespace batchscope;
using namespace batchscope::exchange;
using store::test::Folder;

namespace {

namespace fs = std::filesystem;

using Steps = std::vector<std::int64_t>;

/// A file or folder that is followed with the importer of its format.
class Followed {
public:
  Followed(const std::string& importer, const fs::path& path) {
    for (auto& each : importers())
      if (each->name() == importer)
        importer_ = std::move(each);
    follower_ = importer_->follow(path);
  }

  /// The steps that were added, of each series.
  std::map<std::string, Steps> poll(bool ended = false) {
    std::map<std::string, Steps> added;
    while (follower_->poll([&](const AddedPoint& point) { added[point.series].push_back(point.step); }, ended))
      continue;
    return added;
  }
  SeriesFollower& follower() { return *follower_; }

private:
  std::unique_ptr<Importer> importer_;
  std::unique_ptr<SeriesFollower> follower_;
};

void append(const fs::path& file, const std::string& text) {
  std::ofstream(file, std::ios::binary | std::ios::app) << text;
}

void write(const fs::path& file, const std::string& text) {
  std::ofstream(file, std::ios::binary) << text;
}

/// Replaces bytes in the file, which stays as long as it is.
void overwrite(const fs::path& file, std::streamoff at, const std::string& bytes) {
  std::fstream(file, std::ios::binary | std::ios::in | std::ios::out).seekp(at) << bytes;
}

Steps steps(std::int64_t first, std::int64_t last) {
  Steps steps;
  for (std::int64_t step = first; step <= last; ++step)
    steps.push_back(step);
  return steps;
}

std::string rows(std::int64_t first, std::int64_t last) {
  std::string text;
  for (const std::int64_t step : steps(first, last))
    text += std::to_string(step) + "," + std::to_string(100.0 / static_cast<double>(step)) + "\n";
  return text;
}

std::string table_of(std::int64_t first, std::int64_t last, std::string header = "step,loss\n") {
  return header += rows(first, last);
}

std::string events(std::int64_t first, std::int64_t last, const char* tag = "train/loss") {
  std::ostringstream out;
  detail::EventWriter writer(out, 100);
  for (const std::int64_t step : steps(first, last))
    writer.write({.wall_time = 100, .step = step, .tag = tag, .value = 1});
  return out.str();
}

} // namespace

/// What another program adds to its files is read once, and from where it ended.
class TestFollow : public QObject {
  Q_OBJECT

private Q_SLOTS:
  void rowsAreReadOnce() {
    const Folder folder;
    const fs::path file = folder.file("log.csv");
    Followed table("csv", file);
    QVERIFY(table.poll().empty()); // not there yet
    append(file, "\xEF\xBB\xBF");
    append(file, table_of(1, 100));
    QCOMPARE(table.poll()["loss"], steps(1, 100));
    // What was read is not read again: it could not be.
    overwrite(file, 13, "no row");
    append(file, rows(101, 101));
    append(file, "102,0.");
    QCOMPARE(table.poll()["loss"], steps(101, 101));
    append(file, "5\n");
    QCOMPARE(table.poll()["loss"], steps(102, 102));
    QVERIFY(table.poll(true).empty());
  }

  void aLongTableIsReadInParts() {
    const Folder folder;
    const fs::path file = folder.file("log.csv");
    write(file, table_of(1, 400'000));
    Followed table("csv", file);
    std::size_t count = 0;
    int polls = 1;
    while (table.follower().poll([&](const AddedPoint& point) { count += point.step > 0 ? 1 : 0; }, false))
      ++polls;
    QCOMPARE(count, 400'000U);
    QVERIFY(polls > 1);
  }

  void aDamagedLineIsNamedAndCostsItself() {
    const Folder folder;
    const fs::path file = folder.file("log.csv");
    Followed table("csv", file);
    append(file, table_of(1, 5));
    table.poll();
    append(file, "6\n7,1\n");
    Steps added;
    const auto poll = [&] {
      table.follower().poll([&](const AddedPoint& point) { added.push_back(point.step); }, false);
    };
    try {
      poll();
      QFAIL("a row with one value was read");
    } catch (const Error& error) {
      QVERIFY2(std::string(error.what()).ends_with("line 7: 1 values; the header has 2 columns"), error.what());
    }
    QCOMPARE(added, steps(7, 7));
    append(file, "8,1\n");
    poll(); // it is said once
    QCOMPARE(added, steps(7, 8));
    append(file, "x,1\n9,1\n");
    QVERIFY_EXCEPTION_THROWN(poll(), Error);
    QCOMPARE(added, steps(7, 9));
  }

  /// A program that is started again writes its header again, perhaps with another column.
  void aHeaderInBetweenBeginsOtherColumns() {
    const Folder folder;
    const fs::path file = folder.file("log.csv");
    write(file, "step;train_loss\n1;0,5\nstep;train_loss\n2;0,25\nscore;step;train_loss\n0,75;3;1\n");
    Followed before("csv", file);
    auto added = before.poll();
    QCOMPARE(added["loss"], steps(1, 3));
    QCOMPARE(added["score"], steps(3, 3));
    append(file, "0,75;4;1\n");
    Followed next("csv", file);
    next.follower().resume(parse_json(json_text(before.follower().position())));
    added = next.poll();
    QCOMPARE(added["loss"], steps(4, 4));
    QCOMPARE(added["score"], steps(4, 4));
    // As a version before this one has kept its place, it knows the first line only.
    Json position = before.follower().position();
    position[file.string()].erase("header");
    Followed first_line("csv", file);
    first_line.follower().resume(position);
    QVERIFY_EXCEPTION_THROWN(first_line.poll(), Error);
  }

  /// As Lightning does when a series begins.
  void aTableWithAnotherColumnGoesOn() {
    const Folder folder;
    const fs::path file = folder.file("log.csv");
    write(file, table_of(1, 10, "step,train_loss\n"));
    Followed table("csv", file);
    QCOMPARE(table.poll()["loss"], steps(1, 10));
    write(file,
          "step,train_loss,score\n1,100.000000,\n2,50,\n3,1,\n4,1,\n5,1,\n6,1,\n7,1,\n8,1,\n9,1,\n10,1,\n11,1,0.5\n"
          "12,1,0.12345678901234567890123456789012345678901234567890123456789\n");
    const auto added = table.poll();
    QCOMPARE(added.at("loss"), steps(11, 12));
    QCOMPARE(added.at("score"), steps(11, 12));
  }

  void aTableOfAnotherRunIsReadFromItsStart() {
    const Folder folder;
    const fs::path file = folder.file("log.csv");
    write(file, table_of(1, 10));
    Followed table("csv", file);
    table.poll();
    write(file, table_of(1, 4));
    QCOMPARE(table.poll()["loss"], steps(1, 4));
    write(file, table_of(2, 40, "step,loss\n1,0.25\n"));
    QCOMPARE(table.poll()["loss"], steps(1, 40));
  }

  /// A program that is deterministic writes the same table again.
  void theSameTableAgainIsSeenAtTheEnd() {
    const Folder folder;
    const fs::path file = folder.file("log.csv");
    write(file, table_of(1, 10));
    Followed table("csv", file);
    table.poll(true);
    QVERIFY(table.poll(true).empty());
    write(file, table_of(1, 10));
    fs::last_write_time(file, fs::last_write_time(file) + std::chrono::seconds(1));
    QCOMPARE(table.poll(true)["loss"], steps(1, 10));
  }

  void eventFilesAreReadOnce() {
    const Folder folder;
    const fs::path file = folder.path() / "runs" / "events.out.tfevents.1";
    Followed logs("tensorboard", folder.path() / "runs");
    QVERIFY(logs.poll().empty());
    fs::create_directories(file.parent_path());
    const std::string whole = events(1, 20);
    write(file, whole.substr(0, whole.size() / 2));
    const std::size_t first = logs.poll()["loss"].size();
    QVERIFY(first > 5 && first < 15);
    overwrite(file, 0, "damaged record");
    append(file, whole.substr(whole.size() / 2));
    QCOMPARE(logs.poll()["loss"], steps(static_cast<std::int64_t>(first) + 1, 20));
    write(file.parent_path() / "events.out.tfevents.2", events(21, 30, "val/loss"));
    QCOMPARE(logs.poll()["validation_loss"], steps(21, 30));
  }

  void aDamagedEventFileKeepsNoOtherFromBeingRead() {
    const Folder folder;
    write(folder.path() / "events.out.tfevents.1", "this is no event file");
    write(folder.path() / "events.out.tfevents.2", events(1, 3));
    Followed logs("tensorboard", folder.path());
    std::size_t count = 0;
    const auto poll = [&] { logs.follower().poll([&](const AddedPoint&) { ++count; }, false); };
    QVERIFY_EXCEPTION_THROWN(poll(), Error);
    QCOMPARE(count, 3U);
  }

  void documentsAreReadWhenTheyHaveChanged() {
    const Folder folder;
    const fs::path file = folder.path() / "trainer_state.json";
    Followed state("trainer_state", folder.path());
    write(file, R"({"log_history": [{"step": 1, "loss": 3.0}]})");
    QCOMPARE(state.poll()["loss"], steps(1, 1));
    QVERIFY(state.poll().empty());
    write(file, R"({"log_history": [{"step": 1, "loss": 3.0}, {"step": 2, "loss": 2.0}]})");
    QCOMPARE(state.poll()["loss"], steps(2, 2));
  }

  void anotherFollowerGoesOn_data() {
    QTest::addColumn<std::string>("importer");
    QTest::addColumn<std::string>("name");
    QTest::addColumn<std::string>("first");
    QTest::addColumn<std::string>("added");
    QTest::newRow("csv") << std::string("csv") << std::string("log.csv") << table_of(1, 10) << rows(11, 12);
    const std::string whole = events(1, 12), beginning = events(1, 10);
    QTest::newRow("tensorboard") << std::string("tensorboard") << std::string("events.out.tfevents.1") << beginning
                                 << whole.substr(beginning.size());
  }
  void anotherFollowerGoesOn() {
    QFETCH(std::string, importer);
    QFETCH(std::string, name);
    QFETCH(std::string, first);
    QFETCH(std::string, added);
    const Folder folder;
    const fs::path file = folder.file(name);
    write(file, first);
    Followed before(importer, file);
    before.poll();
    const Json position = parse_json(json_text(before.follower().position()));
    append(file, added);
    Followed next(importer, file);
    next.follower().resume(position);
    QCOMPARE(next.poll()["loss"], steps(11, 12));
    Followed unknown(importer, file);
    unknown.follower().resume(Json{{file.string(), "nothing"}});
    QCOMPARE(unknown.poll()["loss"], steps(1, 12));
  }
};

BATCHSCOPE_TEST(TestFollow)
#include "tst_follow.moc"
