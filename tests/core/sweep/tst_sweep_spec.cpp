#include "core/sweep/sweep_spec.h"

#include "core/sweep/extend.h"
#include "core/sweep/settings_key.h"

#include <functional>

#include <QTest>

#include "core/base/error.h"
#include "test_program.h"

using namespace batchscope;
using namespace batchscope::sweep;
using run::BatchChoice;

using Change = std::function<void(SweepSpec&)>;
Q_DECLARE_METATYPE(Change)

class TestSweepSpec : public QObject {
  Q_OBJECT

private Q_SLOTS:
  void everyCombinationInOrder();
  void withoutListsOneRun();
  void namesTellWhatDiffers();
  void jsonKeepsEverything();
  void placeholdersOfAProgram();
  void plainValuesAreThoseOfTheBase();
  void fieldsOfLaterVersionsAreKept();
  void refused_data();
  void refused();
  void badJson_data();
  void badJson();
};

namespace {

SweepSpec two_by_two() {
  SweepSpec spec;
  spec.vary = {parse_variation("batch=16,auto:largest"), parse_variation("lr=0.1,0.2")};
  spec.repeats = 2;
  spec.base.seed = 5;
  return spec;
}

std::string message_of(const std::function<void()>& call) {
  try {
    call();
  } catch (const Error& error) {
    return error.kind() == Error::Kind::input ? error.what() : "another kind";
  }
  return {};
}

} // namespace

void TestSweepSpec::everyCombinationInOrder() {
  QStringList seen;
  for (const auto& run : combinations(two_by_two()))
    seen += QString("%1/%2/%3")
                .arg(QString::fromStdString(run::to_string(run.batch)))
                .arg(*run.learning_rate)
                .arg(run.seed);
  QCOMPARE(seen.join(' '), QString("16/0.1/5 16/0.1/6 16/0.2/5 16/0.2/6 auto:largest/0.1/5 auto:largest/0.1/6 "
                                   "auto:largest/0.2/5 auto:largest/0.2/6"));
}

void TestSweepSpec::withoutListsOneRun() {
  SweepSpec spec;
  spec.base.batch = {BatchChoice::Kind::number, 7};
  const auto runs = combinations(spec);
  QCOMPARE(runs.size(), std::size_t{1});
  QCOMPARE(run::to_json(runs.front()), run::to_json(spec.base));
}

void TestSweepSpec::namesTellWhatDiffers() {
  SweepSpec spec = two_by_two();
  QCOMPARE(combinations(spec).front().name, std::string("batch 16, lr 0.1, seed 5"));
  spec.base.name = "sizes";
  spec.vary.pop_back();
  spec.repeats = 1;
  QCOMPARE(combinations(spec).front().name, std::string("sizes: batch 16"));
}

void TestSweepSpec::jsonKeepsEverything() {
  for (const SweepSpec& spec : {SweepSpec{}, two_by_two()}) {
    const std::string text = to_json(spec);
    QCOMPARE(to_json(sweep_spec_from_json(text)), text);
  }
}

void TestSweepSpec::plainValuesAreThoseOfTheBase() {
  const SweepSpec spec = sweep_spec_from_json(R"({"batch": 8, "lr": 0.5, "model": "mlp"})");
  QVERIFY(spec.vary.empty());
  QCOMPARE(spec.base.batch.number, std::int64_t{8});
  QCOMPARE(spec.base.learning_rate.value(), 0.5);
  QCOMPARE(spec.base.model, std::string("mlp"));
}

void TestSweepSpec::fieldsOfLaterVersionsAreKept() {
  Json json = parse_json(to_json(two_by_two()));
  json["later"] = {1, 2};
  json["sooner"] = 3;
  const SweepSpec read = stored_sweep_from_json(json_text(json));
  QCOMPARE(read.vary.size(), std::size_t{2});
  QCOMPARE(read.repeats, std::int64_t{2});
  QVERIFY(!read.base.later_json.empty());
  QVERIFY_EXCEPTION_THROWN(check(read), Error);
  QVERIFY_EXCEPTION_THROWN(sweep_spec_from_json(json_text(json)), Error);
  const std::string now = to_json(two_by_two());
  QCOMPARE(to_json(stored_sweep_from_json(now)), now);
}

void TestSweepSpec::refused_data() {
  QTest::addColumn<Change>("change");
  QTest::addColumn<QString>("named");
  const auto row = [](const char* name, const char* named, Change change) {
    QTest::newRow(name) << change << QString(named);
  };
  row("batch twice", "--batch", [](SweepSpec& s) { s.vary[0].values.push_back("16"); });
  row("rate twice", "--lr", [](SweepSpec& s) { s.vary[1].values.push_back("0.1"); });
  row("rate 0", "--lr", [](SweepSpec& s) { s.vary[1].values.push_back("0"); });
  row("rate NaN", "--lr", [](SweepSpec& s) { s.vary[1].values.push_back("nan"); });
  row("repeats 0", "--repeats", [](SweepSpec& s) { s.repeats = 0; });
  row("too many", "100000", [](SweepSpec& s) { s.repeats = 100'000; });
  row("far too many", "100000", [](SweepSpec& s) { s.repeats = INT64_MAX; });
  row("seeds beyond the end", "--seed", [](SweepSpec& s) { s.base.seed = INT64_MAX; });
  row("shared option", "--optimizer", [](SweepSpec& s) { s.base.optimizer = "lion"; });
}

void TestSweepSpec::refused() {
  QFETCH(Change, change);
  QFETCH(QString, named);
  SweepSpec spec = two_by_two();
  check(spec);
  change(spec);
  const std::string message = message_of([&] { check(spec); });
  QVERIFY2(message.find(named.toStdString()) != std::string::npos, message.c_str());
}

void TestSweepSpec::badJson_data() {
  QTest::addColumn<QString>("text");
  QTest::addColumn<QString>("named");
  const auto row = [](const char* text, const char* named) { QTest::newRow(text) << QString(text) << QString(named); };
  row("", "line 1");
  row("[]", "object");
  row(R"({"batch": []})", "batch");
  row(R"({"batch": [8, 0]})", "batch");
  row(R"({"batch": [[8]]})", "batch");
  row(R"({"lr": [0.1, "x"]})", "lr");
  row(R"({"lr": [null]})", "lr");
  row(R"({"repeats": "2"})", "repeats");
  row(R"({"colour": 2})", "colour");
}

void TestSweepSpec::badJson() {
  QFETCH(QString, text);
  QFETCH(QString, named);
  const std::string message = message_of([&] { sweep_spec_from_json(text.toStdString()); });
  QVERIFY2(message.find(named.toStdString()) != std::string::npos, message.c_str());
  QVERIFY(message.find('\n') == std::string::npos);
}

void TestSweepSpec::placeholdersOfAProgram() {
  SweepSpec spec;
  spec.base.program = run::ProgramSpec{.command = {"train", "{batch}", "{width}", "{data}"}};
  spec.base.program->set = {{"width", "3"}, {"data", "a,b"}};
  set_variation(spec, parse_values("batch", "8,16"));
  set_variation(spec, parse_values("set.width", "3,a b"));
  check(spec);
  const auto runs = combinations(spec);
  QCOMPARE(runs.size(), 4U);
  QCOMPARE(runs[1].name, std::string("batch 8, width a b"));
  QCOMPARE(runs[1].program->set.at("width"), std::string("a b"));
  QCOMPARE(runs[3].batch.number, 16);
  QCOMPARE(runs[3].program->set.at("data"), std::string("a,b"));
  QVERIFY(settings_key(runs[0]) != settings_key(runs[1]));

  const SweepSpec read = sweep_spec_from_json(to_json(spec));
  QCOMPARE(to_json(read), to_json(spec));
  QCOMPARE(combinations(read).size(), 4U);
  const SweepSpec more = extended(spec, {.values = {parse_values("set.width", "5")}, .repeats = {}, .random = {}});
  QCOMPARE(combinations(more).size(), 6U);

  spec.repeats = 2;
  QVERIFY(message_of([&] { check(spec); }).starts_with("--repeats: the command has no {seed}"));
  spec.base.program->attach = true;
  check(spec);
  spec.base.program->attach = false;
  spec.base.program->command.emplace_back("--seed={seed}");
  check(spec);
  spec.stop_weak = StopWeak::median;
  QVERIFY_EXCEPTION_THROWN(check(spec), Error);
  spec.stop_weak = StopWeak::never;
  spec.base.model = "mlp";
  QVERIFY_EXCEPTION_THROWN(check(spec), Error);
}

BATCHSCOPE_TEST(TestSweepSpec)
#include "tst_sweep_spec.moc"
