#include "core/advice/advice.h"

#include <algorithm>

#include <QTest>

#include "core/advice/sources.h"
#include "core/base/error.h"
#include "test_program.h"

using namespace batchscope;
using namespace batchscope::advice;

/// The tables of advice and what is chosen of them.
class TestAdvice : public QObject {
  Q_OBJECT

private Q_SLOTS:
  void sourcesHaveTheirAddresses() {
    QCOMPARE(advice::address_of(advice::cite("goyal-2017")), std::string("https://arxiv.org/abs/1706.02677"));
    QCOMPARE(advice::address_of(advice::cite("goyal-2017", "section 2")),
             std::string("https://arxiv.org/abs/1706.02677"));
    for (const char* none :
         {"", "Goyal", "Goyal et al. (2017) and others", "Batch Size and Memory Tradeoffs, pattern 2"})
      QCOMPARE(advice::address_of(none), std::string());
    for (const advice::Source& source : advice::sources())
      QVERIFY2(source.address.empty() || source.address.starts_with("https://"), source.key.c_str());
  }

  void tablesAreSound_data();
  void tablesAreSound();
  void everyAnswerCanRun();
  void selectionMatrix_data();
  void selectionMatrix();
  void memoryDecides_data();
  void memoryDecides();
  void effectiveBatchOfTask();
  void disagreementIsShown();
  void precisionsBesideEachOther();
  void memoryLeft();
  void dataLimitTheBatch();
  void severalRanksArePlanned();
  void parameters();
  void refused();
};

namespace {

constexpr double gb = 1e9;

const SizeRow* row_of(const Advice& advice, const std::string& source_part, const std::string& why_part = {}) {
  for (const SizeRow& row : advice.rows)
    if (row.source.find(source_part) != std::string::npos && row.why.find(why_part) != std::string::npos)
      return &row;
  return nullptr;
}

bool any_contains(const std::vector<std::string>& lines, const std::string& part) {
  return std::any_of(lines.begin(), lines.end(),
                     [&](const std::string& line) { return line.find(part) != std::string::npos; });
}

} // namespace

void TestAdvice::tablesAreSound_data() {
  QTest::addColumn<QString>("name");
  QTest::addColumn<int>("rows");
  QTest::newRow("sizes") << "sizes" << 30;
  QTest::newRow("rules") << "rules" << 19;
  QTest::newRow("accuracies") << "accuracies" << 16;
  QTest::newRow("costs") << "costs" << 8;
  QTest::newRow("red flags") << "red-flags" << 8;
  QTest::newRow("excuses") << "excuses" << 11;
}

void TestAdvice::tablesAreSound() {
  QFETCH(QString, name);
  QFETCH(int, rows);
  const Table table = read_table(name.toStdString());
  QVERIFY(static_cast<int>(table.rows.size()) >= rows);
  for (const TableRow& row : table.rows) // each has a source that exists, and a place in it
    QVERIFY(!row.at("section").empty() && !cite(row.at("source"), row.at("section")).empty());
}

/// For every task, model and memory: the commands are those of a valid run, and the sizes multiply.
void TestAdvice::everyAnswerCanRun() {
  for (const Task& task : tasks())
    for (const double parameters : {0.0, 1e6, 7e9, 13e9, 70e9})
      for (const double memory : {0.0, 4 * gb, 8 * gb, 16 * gb, 24 * gb, 80 * gb})
        for (const char* quantization : {"", "4bit", "16bit"}) {
          Question question{.task = task.key, .quantization = quantization};
          if (parameters > 0)
            question.parameters = parameters;
          if (memory > 0)
            question.memory_bytes = memory;
          const Advice advice = advise(question);
          for (const SizeRow& row : advice.rows) {
            QVERIFY(!row.why.empty() && !row.source.empty());
            QCOMPARE(row.command.empty(), !row.start);
          }
          if (!advice.start)
            continue;
          QCOMPARE(advice.spec.has_value(), advice.start->ranks == 1);
          if (advice.spec)
            QCOMPARE(advice.spec->batch.number * advice.spec->accumulate, advice.start->effective());
        }
}

void TestAdvice::selectionMatrix_data() {
  QTest::addColumn<double>("memory");
  QTest::addColumn<double>("parameters");
  QTest::addColumn<QString>("micro");
  QTest::addColumn<QString>("accumulate");
  QTest::newRow("8 GB, 7B") << 8 * gb << 7e9 << "1-2"
                            << "8-16";
  QTest::newRow("16 GB, 7B") << 16 * gb << 7e9 << "4-8"
                             << "4-8";
  QTest::newRow("23.9 GB, 7B") << 23.9 * gb << 7e9 << "4-8"
                               << "4-8";
  QTest::newRow("24 GB, 7B") << 24 * gb << 7e9 << "8-16"
                             << "2-4";
  QTest::newRow("24 GB, 13B") << 24 * gb << 13e9 << "2-4"
                              << "8-16";
  QTest::newRow("40 GB, 70B") << 40 * gb << 70e9 << "1-2"
                              << "16-32";
}

void TestAdvice::selectionMatrix() {
  QFETCH(double, memory);
  QFETCH(double, parameters);
  const Advice advice =
      advise({.task = "instruction-tuning", .parameters = parameters, .quantization = "4bit", .memory_bytes = memory});
  const SizeRow& row = advice.rows.front();
  QTEST(QString::fromStdString(row.micro_batch->text()), "micro");
  QTEST(QString::fromStdString(row.accumulate->text()), "accumulate");
  QVERIFY(row.source.find("selection matrix") != std::string::npos);
  QCOMPARE(advice.start->effective(), std::int64_t{32}); // the least of the best for the task
  QVERIFY(advice.start->batch >= row.micro_batch->low && advice.start->batch <= row.micro_batch->high);
  QVERIFY(advice.start->accumulate >= row.accumulate->low && advice.start->accumulate <= row.accumulate->high);
  QVERIFY(advice.train_command.find("--lr 1e-05") != std::string::npos);
}

void TestAdvice::memoryDecides_data() {
  QTest::addColumn<double>("memory");
  QTest::addColumn<QString>("micro");
  QTest::newRow("below 8 GB") << 7.9 * gb << "16-32";
  QTest::newRow("8 GB") << 8 * gb << "32-64";
  QTest::newRow("16 GB") << 16 * gb << "64-128";
  QTest::newRow("24 GB") << 24 * gb << "128-256";
}

void TestAdvice::memoryDecides() {
  QFETCH(double, memory);
  const Advice advice = advise({.task = "scratch", .parameters = 1e8, .memory_bytes = memory});
  const SizeRow* row = row_of(advice, "decision tree, question 1");
  QVERIFY(row != nullptr);
  QTEST(QString::fromStdString(row->micro_batch->text()), "micro");
}

void TestAdvice::effectiveBatchOfTask() {
  const Advice advice = advise({.task = "chat"});
  const SizeRow* row = row_of(advice, "effective batch sizes");
  QVERIFY(row != nullptr);
  QCOMPARE(row->effective_batch->text(), std::string("64-128"));
  QCOMPARE(*row->least, 16);
  QCOMPARE(*row->most, 256);
  QCOMPARE(advise({.task = "accuracy"}).start->effective(), std::int64_t{128});
  QCOMPARE(advise({.task = "continued-pretraining"}).start->effective(), std::int64_t{256});
}

/// Fine-tuning: one document says 16 to 32 and 32 to 64.
void TestAdvice::disagreementIsShown() {
  const Advice advice = advise({.task = "fine-tuning"});
  QVERIFY(row_of(advice, "question 4") != nullptr && row_of(advice, "pitfall 10") != nullptr);
  QVERIFY(any_contains(advice.disagreements, "16-32 ("));
  QVERIFY(any_contains(advice.disagreements, "32-64 ("));
  QVERIFY(
      advise({.task = "large-data"}).disagreements.empty()); // of memory, which is not known, there are several rows
}

void TestAdvice::precisionsBesideEachOther() {
  const Advice advice = advise({.task = "instruction-tuning", .parameters = 7e9, .memory_bytes = 24 * gb});
  QVERIFY(row_of(advice, "Unsloth", "4 bit") != nullptr);
  QCOMPARE(row_of(advice, "Transformers", "7B")->micro_batch->text(), std::string("4"));
}

void TestAdvice::memoryLeft() {
  Question question{.task = "chat", .parameters = 7e9, .quantization = "4bit", .memory_bytes = 16 * gb};
  QVERIFY(any_contains(advise(question).remarks, "10.5 GB")); // 16 - 3.5 - 2
  QVERIFY(any_contains(advise(question).remarks, "Llama 2 7B"));
  question.quantization = "16bit";
  QVERIFY(any_contains(advise(question).remarks, "nothing is left")); // 14 + 2
}

void TestAdvice::dataLimitTheBatch() {
  const Advice advice = advise({.task = "speed", .examples = 8000});
  QCOMPARE(advice.start->effective(), std::int64_t{400});
  QVERIFY(any_contains(advice.remarks, "limited to 400"));
  QVERIFY(advise({.task = "speed", .examples = 100'000}).remarks.empty());
}

void TestAdvice::severalRanksArePlanned() {
  const Advice advice = advise({.task = "distributed"});
  QCOMPARE(advice.start->effective(), std::int64_t{2048});
  QVERIFY(advice.train_command.find("plan --examples 50000 --world 8 --batch 64 --accumulate 4") != std::string::npos);
  QVERIFY(!advice.spec);
}

void TestAdvice::parameters() {
  QCOMPARE(parse_parameters("7B", "-"), 7e9);
  QCOMPARE(parse_parameters("110M", "-"), 110e6);
  QCOMPARE(parse_parameters("7e9", "-"), 7e9);
  QCOMPARE(parameters_text(110e6), std::string("110M"));
  for (const char* bad : {"", "B", "0B", "-1B", "7X", "nan", "1e30B"})
    QVERIFY_EXCEPTION_THROWN(parse_parameters(bad, "-"), Error);
}

void TestAdvice::refused() {
  QVERIFY_EXCEPTION_THROWN(advise({.task = "poetry"}), Error);
  QVERIFY_EXCEPTION_THROWN(advise({.quantization = "3bit"}), Error);
  QVERIFY_EXCEPTION_THROWN(advise({.model = "vgg"}), Error);
}

BATCHSCOPE_TEST(TestAdvice)
#include "tst_advice.moc"
