#include "core/program/protocol/inbox.h"

#include <fstream>
#include <vector>

#include <QTemporaryDir>
#include <QTest>

#include "core/base/json.h"
#include "test_program.h"

using namespace batchscope;
using namespace batchscope::program;

namespace {

namespace fs = std::filesystem;

struct Received : Inbox::Receiver {
  std::vector<Hello> hellos;
  std::vector<Message> messages;
  int faults = 0;

  void hello(const Hello& hello) override { hellos.push_back(hello); }
  void message(const Message& message, bool /*live*/) override {
    if (!std::holds_alternative<UnknownMessage>(message))
      messages.push_back(message);
  }
  void fault(telemetry::EventBody /*fault*/) override { ++faults; }
  void gone() override {}
};

/// The lines of a spill file that the client of version 0.1.0 has written.
std::vector<Json> spilled_lines() {
  std::ifstream file(BATCHSCOPE_SOURCE_DIR "/tests/core/program/files/spill.jsonl");
  std::vector<Json> lines;
  for (std::string line; std::getline(file, line);)
    lines.push_back(parse_json(line));
  return lines;
}

Received taken_in(const std::vector<Json>& lines) {
  const QTemporaryDir directory;
  const fs::path folder = directory.path().toStdString();
  std::ofstream spill(folder / "spill");
  for (const Json& line : lines)
    spill << json_text(line) << '\n';
  spill.close();
  Link link(folder / "run");
  Received received;
  Inbox inbox(link, "0123", folder / "spill", received);
  inbox.take_spilled();
  return received;
}

void check(const Received& received) {
  QCOMPARE(received.faults, 0);
  QCOMPARE(received.hellos.size(), std::size_t{1});
  QCOMPARE(received.hellos[0].name, std::string("spilled"));
  QCOMPARE(received.messages.size(), std::size_t{5});
  QCOMPARE(std::get<StepMessage>(received.messages[3]).record.loss, 1.0 / 3);
  const auto& event = std::get<EventMessage>(received.messages[1]).event;
  QVERIFY(telemetry::survived(std::get<telemetry::OutOfMemory>(event.body)));
  QCOMPARE(std::get<Bye>(received.messages[4]).status, std::string("finished"));
}

} // namespace

/// Spill files of other versions of the client.
class TestInbox : public QObject {
  Q_OBJECT

private Q_SLOTS:
  void anEarlierSpillFile() { check(taken_in(spilled_lines())); }

  void aLaterSpillFile() {
    std::vector<Json> lines = spilled_lines();
    for (Json& line : lines)
      line["new"] = {{"in", {"a", "later", "version"}}};
    lines[2]["detail"]["new"] = 1;
    lines.insert(lines.begin() + 1, Json{{"type", "new"}});
    lines[0]["can"].push_back("new");
    check(taken_in(lines));
  }
};

BATCHSCOPE_TEST(TestInbox)
#include "tst_inbox.moc"
