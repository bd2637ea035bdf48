#include <QTest>

#include <atomic>
#include <bit>
#include <cmath>
#include <fstream>
#include <functional>
#include <iterator>
#include <limits>
#include <sstream>
#include <streambuf>
#include <thread>

#include "core/base/json.h"
#include "core/exchange/detail/number_text.h"
#include "core/exchange/export.h"
#include "core/store/run_reader.h"
#include "test_events.h"
#include "test_program.h"
#include "tests/core/store/store_test.h"

using namespace batchscope;
using namespace batchscope::test;
using namespace batchscope::store;
using namespace batchscope::exchange;
using namespace batchscope::store::test;

namespace {

std::vector<std::string> lines_of(const std::string& text) {
  std::istringstream stream(text);
  std::vector<std::string> lines;
  for (std::string line; std::getline(stream, line);)
    lines.push_back(line);
  return lines;
}

std::size_t files_in(const std::filesystem::path& folder) {
  return static_cast<std::size_t>(std::distance(std::filesystem::directory_iterator(folder), {}));
}

/// Keeps what is written, and lets something happen before each of the first pieces.
class Interrupted : public std::streambuf {
public:
  explicit Interrupted(std::function<void()> happening) : happening_(std::move(happening)) {}
  const std::string& text() const { return text_; }

protected:
  int_type overflow(int_type c) override {
    text_ += traits_type::to_char_type(c);
    return c;
  }
  std::streamsize xsputn(const char* data, std::streamsize size) override {
    if (pieces_++ < 40)
      happening_();
    text_.append(data, static_cast<std::size_t>(size));
    return size;
  }

private:
  std::function<void()> happening_;
  std::string text_;
  int pieces_ = 0;
};

/// A series without a known value in the records of these tests.
constexpr const char* never_known = "device_bytes";

std::string number(double value) {
  std::string text;
  detail::append_number(text, value);
  return text;
}

} // namespace

class TestExport : public QObject {
  Q_OBJECT

private Q_SLOTS:
  void numbers_read_back_as_they_were();
  void csv_has_one_row_a_step();
  void csv_of_a_run_that_goes_on_is_of_one_moment();
  void json_has_everything();
  void json_leaves_out_what_is_not_known();
  void json_of_a_run_that_goes_on_is_of_one_moment();
  void nothing_is_overwritten_or_left_behind();
  void a_full_disk_leaves_nothing_behind();
  void one_that_is_cancelled_leaves_nothing_behind();
};

void TestExport::numbers_read_back_as_they_were() {
  QCOMPARE(number(0.1), std::string("0.1"));
  QCOMPARE(number(1'000'000), std::string("1000000"));
  QCOMPARE(number(-3), std::string("-3"));
  QCOMPARE(number(9007199254740992.0), std::string("9007199254740992"));
  QCOMPARE(number(-0.0), std::string("-0"));
  QCOMPARE(number(1e-5), std::string("1e-05"));
  QCOMPARE(number(std::numeric_limits<double>::quiet_NaN()), std::string("NaN"));
  QCOMPARE(number(std::numeric_limits<double>::infinity()), std::string("Infinity"));
  QCOMPARE(number(-std::numeric_limits<double>::infinity()), std::string("-Infinity"));
  std::srand(5);
  for (int i = 0; i < 20'000; ++i) {
    std::uint64_t bits = 0;
    for (int k = 0; k < 4; ++k)
      bits = bits << 16 | static_cast<std::uint64_t>(std::rand() & 0xffff);
    const double value = std::bit_cast<double>(bits);
    if (!std::isnan(value))
      QCOMPARE(std::strtod(number(value).c_str(), nullptr), value);
  }
}

void TestExport::one_that_is_cancelled_leaves_nothing_behind() {
  const Folder folder;
  RunStore store(folder.file());
  auto run = store.begin(new_run("long"));
  for (std::int64_t step = 1; step <= 5000; ++step)
    run->sink().record(record_at(step));
  run->finish(outcome(telemetry::RunStatus::finished));
  const auto file = folder.file("runs.csv");
  const RunReader reader(folder.file());
  const std::vector<std::int64_t> often(4, run->id());
  const std::size_t before = files_in(folder.path());
  for (const int after : {0, 1, 5}) {
    int asked = 0;
    std::size_t meanwhile = 0;
    Error::Kind kind{};
    const std::string error = error_of(
        [&] {
          export_to_file(reader, often, "csv", file, false, [&] {
            meanwhile = std::max(meanwhile, files_in(folder.path()));
            return asked++ == after;
          });
        },
        &kind);
    QVERIFY2(error.find("cancelled") != std::string::npos, error.c_str());
    QCOMPARE(kind, Error::Kind::failed);
    QCOMPARE(asked, after + 1);
    QCOMPARE(meanwhile, before + 1);
    QCOMPARE(files_in(folder.path()), before);
  }
  export_to_file(reader, often, "csv", file, false, [] { return false; });
  QCOMPARE(lines_of(text_of(file)).size(), std::size_t{4 * 5000 + 1});
}

void TestExport::csv_has_one_row_a_step() {
  const Folder folder;
  RunStore store(folder.file());
  std::vector<std::int64_t> ids;
  for (int i = 0; i < 2; ++i) {
    auto run = store.begin(new_run("csv"));
    for (std::int64_t step = 1; step <= 1500; ++step) {
      telemetry::StepRecord record = record_at(step);
      if (step == 3)
        record.loss = std::numeric_limits<double>::quiet_NaN();
      run->sink().record(record);
    }
    run->finish(outcome(telemetry::RunStatus::finished));
    ids.push_back(run->id());
  }
  const auto empty = store.begin(new_run("empty"));
  ids.push_back(empty->id());
  export_to_file(RunReader(folder.file()), ids, "csv", folder.file("runs.csv"), false);
  const auto lines = lines_of(text_of(folder.file("runs.csv")));
  QCOMPARE(lines.size(), std::size_t(3001));
  QCOMPARE(lines[0], std::string("run,step,examples_seen,epoch,train_coverage,batch,accumulate,effective_batch,loss,"
                                 "learning_rate,grad_norm,seconds,allocated_bytes,reserved_bytes,peak_bytes"));
  QCOMPARE(lines[2], std::string("1,2,128,0.02,0.02,16,2,64,0.5,0.1,0.6666666666666666,0.002,1000002,2000000,1500002"));
  QCOMPARE(lines[3], std::string("1,3,192,0.03,0.03,16,2,64,NaN,0.1,1,0.003,1000003,2000000,1500003"));
  QVERIFY(lines[1501].rfind("2,1,64,", 0) == 0);
}

void TestExport::csv_of_a_run_that_goes_on_is_of_one_moment() {
  const Folder folder;
  RunStore store(folder.file());
  auto run = store.begin(new_run("goes on"));
  std::atomic<bool> over{false};
  std::thread loop([&] {
    for (std::int64_t step = 1; !over; ++step) {
      run->sink().record(record_at(step));
      store.flush();
    }
  });
  const RunReader reader(folder.file());
  std::size_t torn = 0;
  std::size_t rows = 0;
  while (rows < 500) { // again and again while each step is stored on its own
    std::ostringstream text;
    make_exporter("csv")->write(reader, {run->id()}, text);
    const auto lines = lines_of(text.str());
    rows = lines.size() - 1;
    torn += lines.back().find(",,") != std::string::npos || lines.back().back() == ',' ? 1 : 0;
  }
  over = true;
  loop.join();
  QCOMPARE(torn, std::size_t(0));
}

void TestExport::json_has_everything() {
  const Folder folder;
  RunStore store(folder.file());
  NewRun given = new_run("everything \"quoted\" \xff"); // the last byte is no UTF-8
  given.sweep = store.add_sweep(R"({"batch":[16]})");
  given.start_json = R"({"parameters":1234})";
  auto run = store.begin(given);
  for (std::int64_t step = 1; step <= 1100; ++step)
    run->sink().record(record_at(step));
  telemetry::StepRecord last = record_at(1101);
  last.loss = -std::numeric_limits<double>::infinity();
  run->sink().record(last);
  run->sink().event(event_of(5, 0.5, "evaluation", R"({"kind":"inner"})", {{"validation_loss", 0.1}}));
  telemetry::RunOutcome end = outcome(telemetry::RunStatus::failed);
  end.reason = "diverged";
  end.loss = last.loss;
  end.examples_per_second = std::numeric_limits<double>::quiet_NaN();
  run->finish(end);
  const RunReader reader(folder.file());
  export_to_file(reader, {run->id()}, "json", folder.file("runs.json"), false);

  const Json all = Json::parse(text_of(folder.file("runs.json")));
  QCOMPARE(all["format"].get<std::string>(), std::string("batchscope-runs"));
  QCOMPARE(all["sweeps"][0]["spec"]["batch"][0].get<int>(), 16);
  QCOMPARE(all["runs"].size(), std::size_t(1));
  const Json& one = all["runs"][0];
  QCOMPARE(one["uid"].get<std::string>(), reader.run(run->id()).uid);
  QCOMPARE(one["sweep"].get<std::int64_t>(), *given.sweep);
  QCOMPARE(one["spec"]["model"].get<std::string>(), std::string("cnn"));
  QCOMPARE(one["start"]["parameters"].get<int>(), 1234);
  QCOMPARE(one["summary"]["reason"].get<std::string>(), std::string("diverged"));
  QCOMPARE(one["summary"]["loss"].get<std::string>(), std::string("-Infinity"));
  QCOMPARE(one["summary"]["examples_per_second"].get<std::string>(), std::string("NaN"));
  QVERIFY(one["summary"]["validation_loss"].is_null());
  QCOMPARE(one["events"][0]["kind"].get<std::string>(), std::string("evaluation"));
  QCOMPARE(one["events"][0]["detail"]["kind"].get<std::string>(), std::string("inner"));
  QCOMPARE(one["series"].size(), telemetry::step_series().size()); // with validation_loss
  for (const std::string& name : reader.series_names(run->id())) {
    if (name == never_known)
      continue;
    const auto points = reader.series(run->id(), name);
    const Json& exported = one["series"][name];
    QCOMPARE(exported.size(), points.size());
    for (std::size_t i = 0; i < points.size(); ++i) {
      QCOMPARE(exported[i][0].get<std::int64_t>(), points[i].step);
      QVERIFY(same(number_from_json(exported[i][1]), points[i].value));
    }
  }
}

void TestExport::json_leaves_out_what_is_not_known() {
  const Folder folder;
  RunStore store(folder.file());
  auto run = store.begin(new_run("program"));
  run->sink().record(telemetry::unknown_record(1));
  telemetry::StepRecord second = telemetry::unknown_record(2);
  second.loss = 0.5;
  second.batch = 8;
  run->sink().record(second);
  run->finish(outcome(telemetry::RunStatus::finished));
  std::ostringstream out;
  make_exporter("json")->write(RunReader(folder.file()), {run->id()}, out);
  const Json series = Json::parse(out.str())["runs"][0]["series"];
  QCOMPARE(json_text(series["batch"]), std::string("[[1,null],[2,8]]"));
  QCOMPARE(json_text(series["loss"]), std::string(R"([[1,"NaN"],[2,0.5]])")); // it diverged
  for (const char* unknown : {"epoch", "learning_rate", "peak_bytes", "device_bytes"})
    QVERIFY2(!series.contains(unknown), unknown);
}

void TestExport::json_of_a_run_that_goes_on_is_of_one_moment() {
  const Folder folder;
  RunStore store(folder.file());
  auto run = store.begin(new_run("goes on"));
  std::int64_t step = 0;
  const auto resume = [&] {
    run->sink().record(record_at(++step));
    store.flush();
  };
  resume();
  const RunReader reader(folder.file());
  Interrupted buffer(resume);
  std::ostream out(&buffer);
  make_exporter("json")->write(reader, {run->id()}, out);
  QVERIFY(step > 20);
  const Json one = Json::parse(buffer.text())["runs"][0];
  const auto steps = one["summary"]["steps"].get<std::size_t>();
  QVERIFY(steps < static_cast<std::size_t>(step));
  for (const std::string& name : telemetry::step_series())
    if (name != never_known)
      QCOMPARE(one["series"][name].size(), steps);
}

void TestExport::nothing_is_overwritten_or_left_behind() {
  const Folder folder;
  RunStore store(folder.file());
  const std::int64_t id = store.add_finished(new_run("one"), outcome(telemetry::RunStatus::finished));
  const RunReader reader(folder.file());
  const Folder target;
  const auto file = target.file("out.csv");
  const auto refusal = [&](const std::vector<std::int64_t>& ids, const std::string& format,
                           const std::filesystem::path& path, bool force) {
    Error::Kind kind{};
    const std::string error = error_of([&] { export_to_file(reader, ids, format, path, force); }, &kind);
    return kind == Error::Kind::input ? error : "not an input error: " + error;
  };
  QCOMPARE(refusal({id}, "xml", file, false),
           std::string("--format: \"xml\" is not accepted; accepted: csv, summary, json, markdown, html, tensorboard"));
  QCOMPARE(refusal({}, "csv", file, false), std::string("export: no runs given; accepted: at least one id"));
  QCOMPARE(refusal({id, 9}, "csv", file, false), folder.file().string() + ": there is no run 9");
  QCOMPARE(refusal({id}, "csv", target.path(), true), target.path().string() + ": is a folder; give a file name");
  QCOMPARE(refusal({id}, "csv", target.file("no/out.csv"), false),
           target.file("no/out.csv").string() + ": its folder does not exist; create it first");
  QVERIFY(refusal({id}, "csv", "", false).find("not a file name") != std::string::npos);
  QCOMPARE(files_in(target.path()), std::size_t(0));
  // The database itself, by any name and with its log: it is open.
  std::filesystem::create_hard_link(folder.file(), folder.file("link.db"));
  for (const char* name : {"runs.db", "runs.db-wal", "runs.db-shm", "link.db"})
    QCOMPARE(refusal({id}, "csv", folder.file(name), true),
             folder.file(name).string() + ": is the run database that is open; use another file");
  QCOMPARE(reader.list().size(), std::size_t(1));

  std::ofstream(file) << "precious";
  QCOMPARE(refusal({id}, "csv", file, false), file.string() + ": already exists; --force overwrites it");
  QCOMPARE(text_of(file), std::string("precious"));
  export_to_file(reader, {id}, "csv", file, true);
  QCOMPARE(lines_of(text_of(file)).size(), std::size_t(1));
  QCOMPARE(files_in(target.path()), std::size_t(1));
}

void TestExport::a_full_disk_leaves_nothing_behind() {
  const Folder folder;
  RunStore store(folder.file());
  auto run = store.begin(new_run("long"));
  for (std::int64_t step = 1; step <= 20'000; ++step)
    run->sink().record(record_at(step));
  run->finish(outcome(telemetry::RunStatus::finished));
  const RunReader reader(folder.file());
  const Folder target;
  std::ofstream(target.file("out.csv")) << "precious";
  Error::Kind kind{};
  std::string error;
  {
    const FileSizeLimit limit(100'000);
    error = error_of([&] { export_to_file(reader, {run->id()}, "csv", target.file("out.csv"), true); }, &kind);
  }
  QCOMPARE(error, target.file("out.csv").string() + ": cannot be written: File too large");
  QCOMPARE(kind, Error::Kind::failed);
  QCOMPARE(text_of(target.file("out.csv")), std::string("precious"));
  QCOMPARE(files_in(target.path()), std::size_t(1));
}

BATCHSCOPE_TEST(TestExport)
#include "tst_export.moc"
