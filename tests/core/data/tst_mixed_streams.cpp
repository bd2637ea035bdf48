#include <QTest>

#include "data_files.h"
#include "test_program.h"

using namespace batchscope;
using namespace batchscope::data;

class MixedStreamsTest : public QObject {
  Q_OBJECT

private Q_SLOTS:
  void namesAndFilesAreReadFromTheText() {
    using Names = std::vector<std::string>;
    QCOMPARE(stream_names("demo"), Names{});
    QCOMPARE(stream_names("csv:x=1.csv,target=y"), Names{});
    const std::string text = "new=csv:a.csv,target=demo,validation=0,old=idx:i,l,third_3=demo:validation=0.1";
    QCOMPARE(stream_names(text), (Names{"new", "old", "third_3"}));
    QCOMPARE(data_files(text), (Names{"a.csv", "i", "l"}));
    QVERIFY(!lengths_vary(text));
    QVERIFY(lengths_vary("a=text:x,b=lines:y"));
  }

  void theExamplesAreThoseOfTheStreams() {
    DataFiles files;
    const std::string a =
        "csv:" + files.write("a.csv", "x,y,t\n1,2,cat\n3,5,dog\n4,4,cat\n") + ",target=t,validation=0";
    const std::string b = "csv:" + files.write("b.csv", "x,y,t\n7,2,dog\n3,9,cat\n") + ",target=t,validation=0";
    const DataSplit mixed = open_data("a=" + a + ",b=" + b);
    QCOMPARE(mixed.train->size(), std::int64_t{5});
    QVERIFY(!mixed.validation);
    QCOMPARE(mixed.train->streams().size(), std::size_t{2});
    QCOMPARE(mixed.train->streams()[1].name, std::string("b"));
    QCOMPARE(mixed.train->shape().streams, std::int64_t{2});
    const std::vector<std::int64_t> order{4, 0, 1, 3, 2};
    std::vector<float> inputs(10), own(2);
    std::vector<std::int64_t> labels(5);
    mixed.train->fill_inputs(order, inputs.data());
    mixed.train->fill_labels(order, 1, labels.data());
    QCOMPARE(labels, (std::vector<std::int64_t>{0, 0, 1, 1, 0}));
    const std::vector<std::int64_t> second{1};
    open_data(b).train->fill_inputs(second, own.data());
    QCOMPARE(inputs[0], own[0]);
    open_data(a).train->fill_inputs(second, own.data());
    QCOMPARE(inputs[5], own[1]);
    QVERIFY(mixed.train->checksum());
    QVERIFY(mixed.train->checksum() != open_data("a=" + b + ",b=" + a).train->checksum());
  }

  void textsGetOneVocabulary() {
    DataFiles files;
    const std::string a = "lines:" + files.write("a", "ace\nca\n") + ",validation=0";
    const std::string b = "lines:" + files.write("b", "bde\n") + ",validation=0";
    const DataSplit mixed = open_data("a=" + a + ",b=" + b, {.context = 8});
    QCOMPARE(mixed.train->shape().vocabulary, std::int64_t{6}); // newline, a to e
    const std::vector<std::int64_t> order{2, 1};
    const BatchLayout layout = mixed.train->layout(order);
    QCOMPARE(layout.length, std::int64_t{3});
    QCOMPARE(layout.loss_terms, std::int64_t{5});
    std::vector<std::int64_t> labels(6);
    mixed.train->fill_labels(order, 3, labels.data());
    QCOMPARE(labels, (std::vector<std::int64_t>{4, 5, 0, 1, 0, ignored_target}));
    std::vector<std::int64_t> tokens(6);
    mixed.train->fill_tokens(order, 3, tokens.data());
    QCOMPARE(std::vector<std::int64_t>(tokens.begin(), tokens.begin() + 5), (std::vector<std::int64_t>{2, 4, 5, 3, 1}));
  }

  void refusesStreamsThatDoNotFit_data() {
    QTest::addColumn<QString>("text");
    QTest::addColumn<QString>("words");
    const QString images = "synthetic:examples=10,shape=1x4x4,classes=3";
    QTest::newRow("one") << "a=demo"
                         << "a is the only stream";
    QTest::newRow("twice") << "a=demo,a=demo"
                           << "two streams have the name a";
    QTest::newRow("name") << "1a=demo,b=demo"
                          << "'1a' is no name of a stream";
    QTest::newRow("kind") << "a=demo,b=nothing"
                          << "unknown kind 'nothing'; accepted: demo";
    QTest::newRow("shape") << "a=" + images + ",b=demo"
                           << "a has images 1x4x4, 3 classes, b has images 1x28x28, 10";
    QTest::newRow("classes") << "a=" + images + ",b=synthetic:examples=10,shape=1x4x4,classes=4"
                             << "b has images 1x4x4, 4";
    QTest::newRow("tokens") << "a=synthetic:examples=10,vocabulary=5,b=synthetic:examples=10,vocabulary=6"
                            << "b has tokens of a vocabulary of 6";
  }
  void refusesStreamsThatDoNotFit() {
    QFETCH(QString, text);
    QFETCH(QString, words);
    const QString said = DataFiles::refusal(text.toStdString());
    QVERIFY2(said.contains(words), qPrintable(said));
  }

  void classesOfOtherNamesAreOtherClasses() {
    DataFiles files;
    const auto csv = [&](const char* name, const char* rows) {
      return "csv:" + files.write(name, QByteArray("x,t\n") + rows) + ",target=t,validation=0";
    };
    const QString said = DataFiles::refusal("a=" + csv("a", "1,cat\n2,dog\n") + ",b=" + csv("b", "1,cat\n2,owl\n"));
    QVERIFY2(said.contains("2 classes (cat, dog)") && said.contains("2 classes (cat, owl)"), qPrintable(said));
  }
};

BATCHSCOPE_TEST(MixedStreamsTest)
#include "tst_mixed_streams.moc"
