#include <cmath>

#include <QTest>

#include "test_program.h"
#include "tests/core/data/data_files.h"

using namespace batchscope;
using namespace batchscope::data;

namespace {

DataSplit open(const QByteArray& text, const std::string& parameters = "target=y,validation=0") {
  DataFiles files;
  return open_data("csv:" + files.write("t.csv", text) + "," + parameters);
}

std::vector<std::int64_t> labels(const Dataset& data) {
  std::vector<std::int64_t> result(static_cast<std::size_t>(data.size()));
  data.fill_labels(numbers_below(data.size()), 1, result.data());
  return result;
}

} // namespace

class CsvTest : public QObject {
  Q_OBJECT

private Q_SLOTS:
  void standardisesFeatures() {
    const DataSplit split = open("a,y,b\n1,red,5\n3,blue,5\r\n\n5,red, +5e0\n");
    QCOMPARE(split.train->size(), 3);
    QCOMPARE(split.train->shape().dimensions, std::vector<std::int64_t>{2});
    QCOMPARE(split.train->shape().classes, 2);
    QCOMPARE(labels(*split.train), (std::vector<std::int64_t>{1, 0, 1}));
    std::vector<float> values(6);
    split.train->fill_inputs(numbers_below(3), values.data());
    const float unit = std::sqrt(1.5F);
    const float expected[] = {-unit, 0, 0, 0, unit, 0};
    for (int i = 0; i < 6; ++i)
      QVERIFY(std::abs(values[i] - expected[i]) < 1e-6F);
  }

  void understandsQuotes() {
    const DataSplit split = open("\"a,\"\"1\"\"\",\"y\"\n\"1\",\"x, \"\"two\nlines\"\"\"\n2,plain\n");
    QCOMPARE(split.train->size(), 2);
    QCOMPARE(split.train->shape().classes, 2);
  }

  void takesFewWholeNumbersForClasses() {
    const DataSplit split = open("a,y\n1,30\n2,-1\n3,30\n4,7.0\n");
    QCOMPARE(split.train->shape().target, ExampleShape::Target::classes);
    QCOMPARE(labels(*split.train), (std::vector<std::int64_t>{2, 0, 2, 1}));
    float number = 0;
    QVERIFY_THROWS_EXCEPTION(Error, split.train->fill_numbers(numbers_below(1), &number));
  }

  void takesOtherNumbersAsTheyAre() {
    for (const bool many : {false, true}) {
      QByteArray text = "a,y\n";
      for (int i = 0; i < 30; ++i)
        text += QByteArray::number(i) + "," + (many ? QByteArray::number(i) : QByteArray::number(i % 3 + 0.5)) + "\n";
      const DataSplit split = open(text);
      QCOMPARE(split.train->shape().target, ExampleShape::Target::number);
      QCOMPARE(split.train->shape().classes, 0);
      float last = 0;
      split.train->fill_numbers(std::vector<std::int64_t>{29}, &last);
      QCOMPARE(last, many ? 29.0F : 2.5F);
      std::int64_t label = 0;
      QVERIFY_THROWS_EXCEPTION(Error, split.train->fill_labels(numbers_below(1), 1, &label));
    }
  }

  void readsAFileWithoutNames() {
    for (const char* header : {"header=no,target=2", "target=2,header=no"}) {
      const DataSplit split = open("1,red,5\n3,blue,5\n5,red,5\n", std::string(header) + ",validation=0");
      QCOMPARE(split.train->size(), 3); // the first line is a row
      QCOMPARE(split.train->shape().dimensions, std::vector<std::int64_t>{2});
      QCOMPARE(labels(*split.train), (std::vector<std::int64_t>{1, 0, 1}));
    }
    QCOMPARE(open("a,y\n1,2\n2,3\n", "header=yes,target=y,validation=0").train->size(), 2);
  }

  void refusesWrongHeaders_data() {
    QTest::addColumn<QByteArray>("text");
    QTest::addColumn<QString>("parameters");
    QTest::addColumn<QString>("words");
    const auto row = [](const char* name, const QByteArray& text, const char* parameters, const char* words) {
      QTest::newRow(name) << text << QString(parameters) << QString(words);
    };
    row("neither yes nor no", "1,2\n", "header=maybe,target=1", "header is 'maybe'; accepted: yes, no");
    row("a name as target", "1,2\n", "header=no,target=y",
        "target is 'y'; with header=no, accepted: a column number, 1 to 2");
    row("column 0", "1,2\n", "header=no,target=0", "1 to 2");
    row("a column too far", "1,2\n", "header=no,target=3", "1 to 2");
    row("not a whole number", "1,2\n", "header=no,target=1.5", "1 to 2");
    row("row too long", "1,2\n1,2,3\n", "header=no,target=1", "line 2: 3 fields, but the first row has 2");
    row("text as feature", "1,2\nred,3\n", "header=no,target=2", "line 2: column '1' is 'red'");
    row("numbers where names should be", "1,2\n3,4\n", "target=y", "use header=no and the target's column number");
    row("no target", "1,2\n", "header=no", "header=no,target=NUMBER");
    row("only empty lines", "\n\n", "header=no,target=1", "rows are needed");
  }
  void refusesWrongHeaders() {
    QFETCH(QByteArray, text);
    QFETCH(QString, parameters);
    QFETCH(QString, words);
    DataFiles files;
    const QString message = DataFiles::refusal("csv:" + files.write("t.csv", text) + "," + parameters.toStdString());
    QVERIFY2(message.contains(words), qPrintable(message));
  }

  void cutsWhatItQuotes() {
    DataFiles files;
    const QByteArray names = QByteArray(1'000'000, 'a') + "," + QByteArray(1'000'000, 'b') + "\n1,2\n";
    const QString message = DataFiles::refusal("csv:" + files.write("t.csv", names) + ",target=y");
    QVERIFY(message.contains("no column 'y'"));
    QVERIFY2(message.size() < 1000, qPrintable(QString::number(message.size())));
  }

  void measuresTheTrainingRowsOnly() {
    QByteArray text = "a,y\n";
    for (int i = 0; i < 100; ++i)
      text += QByteArray::number(i * i) + "," + QByteArray::number(i % 2) + "\n";
    const DataSplit split = open(text, "target=y");
    QCOMPARE(split.train->size(), 80);
    QCOMPARE(split.validation->size(), 20);
    std::vector<float> values(80);
    split.train->fill_inputs(numbers_below(80), values.data());
    double sum = 0;
    double squares = 0;
    for (float value : values) {
      sum += value;
      squares += double(value) * value;
    }
    QVERIFY(std::abs(sum / 80) < 1e-6);
    QVERIFY(std::abs(squares / 80 - 1) < 1e-6);
  }

  void refusesBadFiles_data() {
    QTest::addColumn<QByteArray>("text");
    QTest::addColumn<QString>("words");
    const auto row = [](const char* name, const QByteArray& text, const char* words) {
      QTest::newRow(name) << text << words;
    };
    row("empty", "", "empty");
    row("line breaks", "\n\n", "only empty lines");
    row("names only", "a,y\n", "no rows");
    row("no such column", "a,b\n1,2\n", "line 1: no column 'y'; columns are: a, b");
    row("column twice", "y,a,y\n1,2,3\n", "2 columns are named 'y'");
    row("target alone", "y\n1\n2\n", "no column besides the target");
    row("row too short", "a,y\n1,2\n\n3\n", "line 4: 1 fields, but the first line names 2");
    row("row too long", "a,y\n1,2,3\n", "line 2: 3 fields");
    row("row too long after a break in quotes", "a,y\n1,\"x\ny\"\n1,2,3\n", "line 4: 3 fields");
    row("text as feature", "a,y\n1,2\nred,3\n", "line 3: column 'a' is 'red'");
    row("feature missing", "a,y\n,2\n", "line 2: column 'a' is ''");
    row("NaN", "a,y\nnan,2\n", "line 2: column 'a' is 'nan'");
    row("beyond a float", "a,y\n1e300,2\n", "line 2: column 'a' is '1e300'");
    row("target missing", "a,y\n1,\n", "line 2: target column 'y' is empty");
    row("one value", "a,y\n1,2\n3,2.0\n", "the same value in every row");
    row("quote not closed", "a,y\n1,\"2\n3,4\n", "line 2: a quote is not closed");
    row("text after a quote", "a,y\n\"1\"2,3\n", "line 2: field 1 has text after its closing quote");
    QByteArray names = "a,y\n";
    for (int i = 0; i < 1001; ++i)
      names += "1,name" + QByteArray::number(i) + "\n";
    row("names as classes", names, "1001 distinct text values");
  }
  void refusesBadFiles() {
    QFETCH(QByteArray, text);
    QFETCH(QString, words);
    DataFiles files;
    const QString message = DataFiles::refusal("csv:" + files.write("t.csv", text) + ",target=y");
    QVERIFY2(message.contains(words) && message.startsWith(files.path("t.csv")), qPrintable(message));
  }
};

BATCHSCOPE_TEST(CsvTest)
#include "tst_csv.moc"
