#include "core/program/run/steering.h"

#include <algorithm>
#include <numeric>

#include <QTest>

#include "core/base/error.h"
#include "core/base/json.h"
#include "core/run/run_plan.h"
#include "core/telemetry/event_codec.h"
#include "test_program.h"
#include "tests/core/store/store_test.h"

using namespace batchscope;
using namespace batchscope::program;

namespace {

constexpr std::int64_t examples = 100;

Hello hello_of(std::int64_t batch, std::int64_t epochs) {
  Hello hello;
  hello.protocol = protocol_version;
  hello.examples = examples;
  hello.batch = batch;
  hello.accumulate = 1;
  hello.epochs = static_cast<double>(epochs);
  hello.can = {"report", "pause", "stop", "batch", "accumulate", "rate"};
  return hello;
}

run::RunSpec spec_of(const std::string& schedule) {
  run::RunSpec spec;
  spec.program = run::ProgramSpec{.command = {"program"}};
  spec.schedule = schedule;
  return spec;
}

/// Does what the client does: takes what the loader would take, asks when it has to, and follows what it is sent.
class PretendedProgram {
public:
  PretendedProgram(std::int64_t batch, Next welcome) : batch_(batch) { follow(to_line(welcome)); }

  /// Makes a step.
  StepMessage step() {
    const std::int64_t left = examples - seen_in_epoch_;
    const std::int64_t take = std::min(batch_, left);
    seen_in_epoch_ = (seen_in_epoch_ + take) % examples;
    StepMessage message{.seq = ++seq_, .record = {}, .takes = {take}, .ask = asks_at_ > 0 && step_ + 1 >= asks_at_};
    message.record.step = ++step_;
    message.record.batch = batch_;
    message.record.loss = 1;
    taken.push_back(take);
    asked += message.ask ? 1 : 0;
    return message;
  }

  /// Follows the lines; returns what it answers to edits.
  std::vector<Applied> follow(const std::string& lines) {
    std::vector<Applied> answers;
    for (std::size_t begin = 0; begin < lines.size();) {
      const std::size_t end = lines.find('\n', begin);
      const Json json = parse_json(lines.substr(begin, end - begin));
      begin = end + 1;
      if (json.contains("batch"))
        batch_ = json["batch"].get<std::int64_t>();
      if (json.contains("rate_factor"))
        rate_factor = json["rate_factor"].get<double>();
      if (json.contains("hold")) {
        const auto hold = json["hold"].get<std::int64_t>();
        const auto from = json["type"] == "next" ? json["step"].get<std::int64_t>() : step_ + 1;
        asks_at_ = hold > 0 ? from + hold - 1 : 0;
      }
      if (json["type"] == "edit") {
        Applied applied{.seq = ++seq_, .id = json["id"].get<std::int64_t>(), .step = step_, .batch = batch_};
        if (json.contains("limit_bytes"))
          applied.limit_bytes = json["limit_bytes"].get<std::uint64_t>();
        answers.push_back(applied);
      }
    }
    return answers;
  }

  std::int64_t batch() const { return batch_; }
  std::int64_t made() const { return step_; }
  std::vector<std::int64_t> taken;
  int asked = 0;
  double rate_factor = 1;

private:
  std::int64_t batch_;
  std::int64_t step_ = 0;
  std::int64_t seq_ = 0;
  std::int64_t seen_in_epoch_ = 0;
  std::int64_t asks_at_ = 0; ///< 0: never
};

struct Events {
  std::vector<std::pair<std::string, Json>> all;
  Steering::Report report() {
    return [this](std::int64_t, const telemetry::EventBody& body) {
      const telemetry::EncodedEvent encoded = telemetry::encode(body);
      all.emplace_back(encoded.kind, parse_json(encoded.detail_json));
    };
  }
  Json last(const std::string& kind) const {
    for (auto event = all.rbegin(); event != all.rend(); ++event)
      if (event->first == kind)
        return event->second;
    return {};
  }
};

struct Planned {
  std::vector<std::int64_t> takes;
  int changes = 0; ///< of the size
};

Planned planned_steps(const Steering& steering, const run::RunSpec& spec) {
  schedule::Progression plan(run::progression_options(spec, steering.start()));
  Planned planned;
  while (const auto step = plan.next()) {
    planned.takes.push_back(step->takes.examples);
    plan.done();
    planned.changes += plan.batch() != step->batch ? 1 : 0;
  }
  return planned;
}

} // namespace

/// A program that follows its steering takes what the plan says.
class TestSteering : public QObject {
  Q_OBJECT

private Q_SLOTS:
  void takesArePlanned_data() {
    QTest::addColumn<QString>("schedule");
    QTest::addColumn<bool>("asks");
    QTest::newRow("constant") << "constant" << false;
    QTest::newRow("steps") << "step:interval=5,increment=3" << true;
    QTest::newRow("a ramp over the program's own length") << "linear:max=64" << true;
    QTest::newRow("pieces") << "piecewise:0=10,7=32,20=5" << true;
    QTest::newRow("edited") << "edited:3-9=64,base=step:interval=4,increment=2" << true;
  }
  void takesArePlanned() {
    QFETCH(QString, schedule);
    QFETCH(bool, asks);
    Events events;
    const run::RunSpec spec = spec_of(schedule.toStdString());
    Steering steering(spec, hello_of(10, 4), events.report());
    PretendedProgram program(10, steering.welcome());
    const Planned planned = planned_steps(steering, spec);
    QVERIFY(steering.start().expected_steps == static_cast<std::int64_t>(planned.takes.size()));
    while (program.taken.size() < planned.takes.size())
      program.follow(steering.take(program.step()));
    QCOMPARE(program.taken, planned.takes);
    QVERIFY(events.last("differs").is_null());
    QCOMPARE(program.asked > 0, asks);
    QVERIFY(program.asked <= planned.changes); // only where the size changes
  }

  void schedulesOfWhatIsMeasuredAskAtEveryStep() {
    Events events;
    Steering steering(spec_of("formula:loss < 2 ? 20 : 10"), hello_of(10, 2), events.report());
    PretendedProgram program(10, steering.welcome());
    for (int i = 0; i < 5; ++i)
      program.follow(steering.take(program.step()));
    QCOMPARE(program.asked, 5);
    QCOMPARE(program.batch(), 20);
  }

  void anEditHoldsFromTheVeryNextStep() {
    Events events;
    Steering steering(spec_of("constant"), hello_of(10, 4), events.report());
    PretendedProgram program(10, steering.welcome());
    for (int i = 0; i < 3; ++i)
      program.follow(steering.take(program.step()));
    const std::string line = steering.request(run::ScheduleEdit{.schedule = "constant", .batch = 25, .command = 7});
    for (const Applied& applied : program.follow(line))
      program.follow(steering.take(applied));
    program.follow(steering.take(program.step()));
    QCOMPARE(program.taken.back(), 25);
    const Json edit = events.last("edit");
    QVERIFY(edit["applies_from_step"] == Json(4));
    QVERIFY(edit["batch"] == Json(25));
    QVERIFY(edit["command"] == Json(7));
    QVERIFY(events.last("differs").is_null());
  }

  void anEditThatArrivesLaterThanPlannedIsCorrected() {
    Events events;
    const run::RunSpec spec = spec_of("constant");
    Steering steering(spec, hello_of(10, 10), events.report());
    PretendedProgram program(10, steering.welcome());
    program.follow(steering.take(program.step()));
    const std::string line = steering.request(run::ScheduleEdit{.schedule = "piecewise:0=10,2=20,4=30"});
    // The program is two steps further before it looks at the socket.
    const StepMessage second = program.step(), third = program.step();
    const std::vector<Applied> answers = program.follow(line);
    program.follow(steering.take(second));
    program.follow(steering.take(third));
    for (const Applied& applied : answers)
      program.follow(steering.take(applied));
    for (int i = 0; i < 3; ++i)
      program.follow(steering.take(program.step()));
    QCOMPARE(program.taken, (std::vector<std::int64_t>{10, 10, 10, 10, 30, 30})); // an edit keeps the size of its step
    QVERIFY(events.last("differs").is_null());
  }

  void anEditDoesNotUndoAnAnswerNorTheOtherWayRound() {
    Events events;
    Steering steering(spec_of("step:interval=1,increment=1"), hello_of(5, 10), events.report());
    PretendedProgram program(5, steering.welcome());
    program.follow(steering.take(program.step()));
    QCOMPARE(program.batch(), 6);
    const StepMessage asking = program.step(); // it waits for the answer when the edit is made
    QVERIFY(asking.ask);
    const std::string edit = steering.request(run::ScheduleEdit{.schedule = "constant", .batch = 40});
    const std::string answer = steering.take(asking);
    const auto applied = program.follow(edit);
    program.follow(answer);
    QCOMPARE(program.batch(), 40);
    for (const Applied& each : applied)
      program.follow(steering.take(each));
    program.follow(steering.take(program.step()));
    QCOMPARE(program.taken.back(), 40);
  }

  void editsAreAppliedInTheirOrder() {
    Events events;
    Steering steering(spec_of("constant"), hello_of(10, 4), events.report());
    PretendedProgram program(10, steering.welcome());
    std::string lines = steering.request(run::ScheduleEdit{.schedule = "constant", .batch = 20});
    lines += steering.request(run::ScheduleEdit{.schedule = "no such schedule"});
    lines += steering.request(run::ScheduleEdit{.schedule = "constant", .batch = 7});
    while (!lines.empty()) {
      std::string more;
      for (const Applied& applied : program.follow(lines))
        more += steering.take(applied);
      lines = more;
    }
    QCOMPARE(program.batch(), 7);
    QCOMPARE(std::count_if(events.all.begin(), events.all.end(), [](const auto& e) { return e.first == "edit"; }), 3);
    QVERIFY(events.all[1].second.contains("refused"));
  }

  void anAnswerThatCameTooLateIsFollowed() {
    Events events;
    const run::RunSpec spec = spec_of("step:interval=2,increment=10");
    Steering steering(spec, hello_of(10, 4), events.report());
    PretendedProgram program(10, steering.welcome());
    steering.take(program.step());
    const std::string late = steering.take(program.step()); // does not reach it in time
    program.follow(steering.take(program.step()));
    QVERIFY(events.last("differs")["batch"] == Json(10));
    QVERIFY(events.last("differs")["planned_batch"] == Json(20));
    program.follow(late);
    program.follow(steering.take(program.step()));
    QVERIFY(program.batch() >= 20);
  }

  /// Its own size is the plan of a program that is given none.
  void aSizeOfItsOwnDiffersFromNothing() {
    Events events;
    run::RunSpec spec = spec_of("constant");
    Steering watching(spec, hello_of(10, 4), events.report());
    PretendedProgram program(10, watching.welcome());
    watching.take(program.step());
    program.follow(to_line(Next{.step = 2, .batch = 20}));
    watching.take(program.step());
    QVERIFY(events.all.empty());
  }

  void aSizeAboveTheExamplesIsSaid() {
    Events events;
    run::RunSpec spec = spec_of("constant");
    spec.program->attach = true;
    spec.batch = {run::BatchChoice::Kind::number, 5000};
    Steering steering(spec, hello_of(10, 4), events.report());
    QCOMPARE(steering.welcome().batch, std::optional(examples));
    QVERIFY(events.last("clamp")["asked"] == Json(5000));
    QVERIFY(events.last("clamp")["taken"] == Json(examples));
    QCOMPARE(events.all.size(), std::size_t{1});
  }

  void theRateFollowsTheRule() {
    Events events;
    run::RunSpec spec = spec_of("piecewise:0=10,2=40");
    spec.lr_rule = "sqrt";
    Steering steering(spec, hello_of(10, 4), events.report());
    PretendedProgram program(10, steering.welcome());
    QCOMPARE(program.rate_factor, 1.0);
    for (int i = 0; i < 2; ++i)
      program.follow(steering.take(program.step()));
    QCOMPARE(program.rate_factor, 2.0);
  }

  void aBudgetIsPassedOn() {
    Events events;
    Steering steering(spec_of("constant"), hello_of(10, 4), events.report());
    PretendedProgram program(10, steering.welcome());
    for (const Applied& applied : program.follow(steering.request(run::BudgetChange{.bytes = 5'000'000})))
      steering.take(applied);
    QVERIFY(events.last("budget")["budget_bytes"] == Json(5'000'000));
    steering.request(run::BudgetChange{.bytes = 0});
    QVERIFY(events.last("budget").contains("refused"));
    QCOMPARE(steering.budget(), std::optional<std::uint64_t>(5'000'000));
  }

  void aProgramThatGoesOnBeginsInTheMiddle() {
    Events events;
    Steering steering(spec_of("piecewise:0=10,11=20"), hello_of(10, 4), events.report());
    steering.repeat({}, 12);
    QCOMPARE(steering.welcome().batch, 20);
    QCOMPARE(steering.welcome().step, 13);
    Steering edited(spec_of("constant"), hello_of(10, 4), events.report());
    edited.repeat({{.after_step = 3, .schedule = "constant", .batch = 25}}, 5);
    QCOMPARE(edited.welcome().batch, 25);
    QVERIFY(edited.steers());
    QVERIFY(events.all.empty());
  }

  void whatAProgramCannotMeasureIsRefused() {
    Events events;
    QVERIFY_THROWS_EXCEPTION(Error, Steering(spec_of("noise:multiplier=1"), hello_of(10, 1), events.report()));
    QVERIFY_THROWS_EXCEPTION(Error, Steering(spec_of("nonsense"), hello_of(10, 1), events.report()));
    Hello endless = hello_of(10, 1);
    endless.epochs.reset();
    for (const char* schedule : {"linear:max=64", "edited:5-10=20,base=exponential:max=64", "formula:1 + 9 * progress"})
      QVERIFY_THROWS_EXCEPTION(Error, Steering(spec_of(schedule), endless, events.report()));
    Steering(spec_of("linear:max=64,steps=10"), endless, events.report());
  }

  void editsThatComeTooLateAreAnswered() {
    Events events;
    Steering steering(spec_of("constant"), hello_of(10, 4), events.report());
    steering.request(run::ScheduleEdit{.schedule = "constant", .batch = 20});
    steering.close();
    QVERIFY(events.last("edit").contains("refused"));
  }

  void aLengthThatIsNotKnownHasNoEnd() {
    Events events;
    Hello hello = hello_of(10, 1);
    hello.epochs.reset();
    Steering steering(spec_of("step:interval=3,increment=1"), hello, events.report());
    QVERIFY(!steering.start().expected_steps);
    PretendedProgram program(10, steering.welcome());
    for (int i = 0; i < 60; ++i)
      program.follow(steering.take(program.step()));
    QCOMPARE(program.batch(), 30);
  }
};

BATCHSCOPE_TEST(TestSteering)
#include "tst_steering.moc"
