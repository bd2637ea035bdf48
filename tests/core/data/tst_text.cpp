#include <QTest>

#include "test_program.h"
#include "tests/core/data/data_files.h"

using namespace batchscope;
using namespace batchscope::data;

namespace {

using Ids = std::vector<std::int64_t>;

Ids tokens(const Dataset& data, const Ids& indices) {
  const std::int64_t length = data.layout(indices).length;
  Ids result(indices.size() * static_cast<std::size_t>(length));
  data.fill_tokens(indices, length, result.data());
  return result;
}

Ids targets(const Dataset& data, const Ids& indices) {
  const std::int64_t length = data.layout(indices).length;
  Ids result(indices.size() * static_cast<std::size_t>(length));
  data.fill_labels(indices, length, result.data());
  return result;
}

} // namespace

class TextTest : public QObject {
  Q_OBJECT

private Q_SLOTS:
  void cutsWindowsThatDoNotOverlap() {
    DataFiles files;
    // 16 of 20 characters train: windows 0-3, 4-7, 8-11; the target of 12-15 would be one that validates.
    const DataSplit split = open_data("text:" + files.write("t", "abcdefghijklmnopqrst"), {.context = 4});
    QCOMPARE(split.train->size(), 3);
    QCOMPARE(split.train->shape().vocabulary, 20);
    QCOMPARE(split.train->shape().dimensions, Ids{4});
    QCOMPARE(tokens(*split.train, {2, 0}), (Ids{8, 9, 10, 11, 0, 1, 2, 3}));
    QCOMPARE(targets(*split.train, {2, 0}), (Ids{9, 10, 11, 12, 1, 2, 3, 4}));
    QCOMPARE(split.train->layout(Ids{0, 1}).loss_terms, 8);
    QVERIFY(!split.validation);
    const DataSplit other = open_data("text:" + files.write("t", "abcdefghijklmnopqrst"), {.context = 3});
    QCOMPARE(tokens(*other.validation, {0}), (Ids{16, 17, 18}));
  }

  void numbersCharactersNotBytes() {
    DataFiles files;
    const DataSplit split = open_data("text:" +
                                          files.write("t", "\xEF\xBB\xBF"
                                                           "z\xC3\xA4\xE2\x82\xAC\xF0\x9F\x98\x80z") +
                                          ",validation=0",
                                      {.context = 4});
    QCOMPARE(split.train->shape().vocabulary, 4);
    QCOMPARE(tokens(*split.train, {0}), (Ids{0, 1, 2, 3}));
    QCOMPARE(targets(*split.train, {0}), (Ids{1, 2, 3, 0}));
  }

  void readsLinesOfManyLengths() {
    DataFiles files;
    const std::string text = "lines:" + files.write("t", "ab\r\n\ncab\nb") + ",validation=0";
    const DataSplit split = open_data(text);
    QCOMPARE(split.train->size(), 3);
    QCOMPARE(split.train->shape().vocabulary, 4);
    QCOMPARE(split.train->shape().dimensions, Ids{3});
    QCOMPARE(split.train->layout(Ids{0, 2}).length, 2);
    QCOMPARE(split.train->layout(Ids{0, 1, 2}).loss_terms, 6);
    // 0 is the newline, then a b c; padding is token 0 and has no target.
    QCOMPARE(tokens(*split.train, {2, 1}), (Ids{2, 0, 0, 3, 1, 2}));
    QCOMPARE(targets(*split.train, {2, 1}), (Ids{0, ignored_target, ignored_target, 1, 2, 0}));
    // Cut to context + 1 characters, newline included.
    const DataSplit cut = open_data(text, {.context = 2});
    QCOMPARE(tokens(*cut.train, {1}), (Ids{3, 1}));
    QCOMPARE(targets(*cut.train, {1}), (Ids{1, 2}));
  }

  void holdsOutAFifthOfTheLines() {
    DataFiles files;
    QByteArray lines;
    for (int i = 0; i < 100; ++i)
      lines += "line " + QByteArray::number(i) + "\n";
    const DataSplit split = open_data("lines:" + files.write("t", lines));
    QCOMPARE(split.train->size(), 80);
    QCOMPARE(split.validation->size(), 20);
    QCOMPARE(split.validation->shape().vocabulary, split.train->shape().vocabulary);
  }

  void refusesBadFiles_data() {
    QTest::addColumn<QString>("kind");
    QTest::addColumn<QByteArray>("bytes");
    QTest::addColumn<QString>("words");
    const auto row = [](const char* name, const char* kind, const QByteArray& bytes, const char* words) {
      QTest::newRow(name) << kind << bytes << words;
    };
    row("empty text", "text", "", "empty");
    row("empty lines", "lines", "", "empty");
    row("only a mark", "text", "\xEF\xBB\xBF", "empty");
    row("only line breaks", "lines", "\n\r\n\n", "only empty lines");
    row("too short", "text", "abcde", "a context of 4 needs at least 5");
    row("Latin-1", "text", "gr\xFC\xDF\x65 and more", "0xfc at offset 2");
    row("Latin-1 after empty lines", "lines", "\n\n\xFC", "0xfc at offset 2");
    row("cut inside a character", "text", "ab\xE2\x82", "0xe2 at offset 2");
    row("overlong", "text", "ab\xE0\x80\x80", "offset 2");
    row("surrogate", "text", "\xED\xA0\x80", "offset 0");
    row("beyond Unicode", "text", "\xF4\x90\x80\x80", "offset 0");
    row("bare continuation", "text", "a\x80", "offset 1");
    row("gzip", "text", DataFiles::gzip("abcdefgh"), "compressed");
  }
  void refusesBadFiles() {
    QFETCH(QString, kind);
    QFETCH(QByteArray, bytes);
    QFETCH(QString, words);
    DataFiles files;
    const QString message = DataFiles::refusal(kind.toStdString() + ":" + files.write("t", bytes), {.context = 4});
    QVERIFY2(message.contains(words) && message.startsWith(files.path("t") + ":"), qPrintable(message));
  }

  void refusesABadContext() {
    DataFiles files;
    const std::string text = "text:" + files.write("t", "abcdefgh");
    QVERIFY(DataFiles::refusal(text, {.context = 0}).contains("context"));
    QVERIFY(DataFiles::refusal(text, {.context = std::int64_t{1} << 40}).contains("context"));
  }
};

BATCHSCOPE_TEST(TextTest)
#include "tst_text.moc"
