#include <fstream>
#include <map>
#include <string>
#include <vector>

#include <QTest>

#include "core/base/json.h"
#include "test_program.h"
#include "tests/core/program/program_runs.h"

using namespace batchscope;
using namespace batchscope::test;

namespace {

/// Says what a program has said, and compares what it is told with what it was told then, but for `stored`, which comes
/// when the database has something. No braces: they would be placeholders.
constexpr const char* replay = R"(
import json, os, socket, sys

connection = socket.socket(socket.AF_UNIX)
connection.connect(os.environ["BATCHSCOPE_SOCKET"])
lines = connection.makefile("r")
run = json.dumps(os.environ["BATCHSCOPE_RUN"])

def next_message(wanted):
    for line in lines:
        message = json.loads(line)
        if (message["type"] == "stored") == (wanted == "stored"):
            return message
    sys.exit("BatchScope has hung up")

with open(sys.argv[1]) as file:
    for line in file.read().replace('"RUN"', run).splitlines()[1:]:
        for who, message in json.loads(line).items():
            if who == "program":
                connection.sendall(json.dumps(message).encode() + b"\n")
                seq = message.get("seq", 0)
            elif message["type"] != "stored":
                told = next_message(message["type"])
                other = [(name, value, told.get(name)) for name, value in message.items() if told.get(name) != value]
                if other:
                    sys.exit("after message %d, recorded and told: %s" % (seq, other))
while next_message("stored")["seq"] < seq:
    pass
)";

/// A file that tests/python/with_torch/record.py has written.
struct Recording {
  explicit Recording(const std::string& name)
      : file(std::string(BATCHSCOPE_SOURCE_DIR "/tests/core/program/files/") + name + ".jsonl") {
    std::ifstream stream(file);
    for (std::string line; std::getline(stream, line);)
      lines.push_back(parse_json(line));
    if (!lines.empty())
      about = lines.front().at("recorded");
  }

  std::vector<Json> said(const std::string& type) const {
    std::vector<Json> found;
    for (const Json& line : lines)
      if (line.contains("program") && line["program"]["type"] == Json(type))
        found.push_back(line["program"]);
    return found;
  }

  std::string file;
  std::vector<Json> lines;
  Json about;
};

run::RunSpec recorded_spec(const Recording& recording, const ProgramRuns& runs) {
  run::RunSpec spec = runs.command({"python3", "-c", replay, recording.file});
  spec.batch = {run::BatchChoice::Kind::number, recording.about["asked"]["batch"].get<std::int64_t>()};
  spec.program->attach = true;
  spec.schedule = recording.about["asked"]["schedule"].get<std::string>();
  return spec;
}

/// Waits until the run has taken all that the program had said before it was given an order.
void wait_for_message(ProgramJob& job, const Json& message) {
  if (message["type"] == Json("record"))
    job.wait_for_step(message["step"].get<std::int64_t>());
  else if (message["type"] == Json("applied"))
    job.wait_for_event("edit");
  else if (message["type"] == Json("event") && message["kind"] != Json("status"))
    job.wait_for_event(message["kind"].get<std::string>());
}

/// Gives the orders that the program was given, each at its time.
void give_orders(ProgramJob& job, const Recording& recording) {
  std::vector<Json> said;
  for (const Json& line : recording.lines) {
    if (line.contains("program"))
      said.push_back(line["program"]);
    if (!line.contains("batchscope"))
      continue;
    const std::string type = line["batchscope"]["type"].get<std::string>();
    if (type != "pause" && type != "edit" && type != "step" && type != "continue")
      continue;
    for (const Json& message : said)
      wait_for_message(job, message);
    said.clear();
    if (type == "pause")
      QVERIFY(job.control().pause());
    else if (type == "edit")
      QVERIFY(job.control().edit({.schedule = "constant", .batch = recording.about["steered_to"].get<std::int64_t>()}));
    else if (type == "step")
      QVERIFY(job.control().step_once());
    else
      QVERIFY(job.control().resume());
  }
}

void compare_records(const Stored& run, const std::vector<Json>& recorded) {
  QCOMPARE(run.records.size(), recorded.size());
  for (std::size_t i = 0; i < recorded.size(); ++i) {
    const telemetry::StepRecord& record = run.records[i];
    const Json& told = recorded[i];
    std::int64_t examples = 0;
    for (const Json& taken : told["takes"])
      examples += taken.get<std::int64_t>();
    QCOMPARE(record.step, told["step"].get<std::int64_t>());
    QCOMPARE(record.batch, told["batch"].get<std::int64_t>());
    QCOMPARE(record.effective_batch, examples);
    QCOMPARE(record.micro_batches, static_cast<std::int64_t>(told["takes"].size()));
    QCOMPARE(record.train_coverage, told["train_coverage"].get<double>());
    QCOMPARE(record.epoch, told["epoch"].get<double>());
    QCOMPARE(record.loss, told["loss"].get<double>());
  }
}

/// All events that the program has sent but `status`, of which the run keeps one for each pause and each end of one.
void compare_events(const Stored& run, const std::vector<Json>& recorded) {
  std::map<std::string, std::size_t> counts;
  for (const Json& event : recorded)
    ++counts[event["kind"].get<std::string>()];
  for (const auto& [kind, count] : counts)
    QCOMPARE(run.of(kind).size(), kind == "status" ? 2U : count);
}

} // namespace

/// What real programs, with the versions that the first line of a recording names, have said comes to the run that it
/// came to, and is answered as it was.
class TestRecorded : public QObject {
  Q_OBJECT

private Q_SLOTS:
  void replayed_data() {
    QTest::addColumn<std::string>("name");
    for (const char* name : {"plain", "trainer", "lightning"})
      QTest::newRow(name) << std::string(name);
  }

  void replayed() {
    QFETCH(const std::string, name);
    const Recording recording(name);
    QVERIFY(recording.about.is_object());
    const ProgramRuns runs;
    ProgramJob job(runs, recorded_spec(recording, runs));
    give_orders(job, recording);
    const telemetry::RunOutcome outcome = job.end();
    QVERIFY2(telemetry::to_string(outcome.status) == recording.about["status"].get<std::string>(),
             outcome.reason.c_str());
    const Stored run(runs.file(), job.result.id);
    QCOMPARE(run.start.program->level, recording.about["level"].get<int>());
    QCOMPARE(run.start.program->framework, recording.about["framework"].get<std::string>());
    compare_records(run, recording.said("record"));
    compare_events(run, recording.said("event"));
    QVERIFY(!run.of("oom").empty());
    QCOMPARE(run.of("edit").size(), 1U);
    QVERIFY(run.of("differs").empty() && run.of("protocol").empty() && run.of("no-bye").empty());
    QCOMPARE(runs.sockets_left(), 0U);
  }
};

BATCHSCOPE_TEST(TestRecorded)
#include "tst_recorded.moc"
