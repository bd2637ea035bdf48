#include <QTest>

#include <algorithm>
#include <numeric>

#include "core/data/masked_tokens.h"
#include "test_program.h"

using namespace batchscope::data;

namespace {

constexpr std::int64_t vocabulary = 65;
constexpr std::int64_t mask = vocabulary; // one more than the text has

struct Filled {
  std::vector<std::int64_t> tokens, labels;
  BatchLayout layout;
};

Filled fill(const Dataset& data, const std::vector<std::int64_t>& indices) {
  Filled filled;
  filled.layout = data.layout(indices);
  const auto count = static_cast<std::size_t>(filled.layout.count * filled.layout.length);
  filled.tokens.resize(count);
  filled.labels.resize(count);
  data.fill_tokens(indices, filled.layout.length, filled.tokens.data());
  data.fill_labels(indices, filled.layout.length, filled.labels.data());
  return filled;
}

std::shared_ptr<const Dataset> text() {
  return open_data("synthetic:examples=500,vocabulary=65,validation=0", {.context = 40}).train;
}

std::vector<std::int64_t> all_of(const Dataset& data) {
  std::vector<std::int64_t> indices(static_cast<std::size_t>(data.size()));
  std::iota(indices.begin(), indices.end(), 0);
  return indices;
}

} // namespace

class TestMaskedTokens : public QObject {
  Q_OBJECT

private Q_SLOTS:
  void masksAsManyAsItShould() {
    const auto plain = text();
    const auto masked = with_masked_tokens(plain, mask, 1);
    const auto indices = all_of(*plain);
    const Filled before = fill(*plain, indices), after = fill(*masked, indices);
    std::int64_t predicted = 0, hidden = 0, stays = 0;
    for (std::size_t i = 0; i < after.tokens.size(); ++i) {
      if (after.labels[i] == ignored_target) {
        QCOMPARE(after.tokens[i], before.tokens[i]);
        continue;
      }
      QCOMPARE(after.labels[i], before.tokens[i]);
      ++predicted;
      hidden += after.tokens[i] == mask ? 1 : 0;
      stays += after.tokens[i] == before.tokens[i] ? 1 : 0;
    }
    QCOMPARE(predicted, std::int64_t{500 * 6}); // 15 % of 40
    QCOMPARE(after.layout.loss_terms, predicted);
    const auto share = [&](std::int64_t count) { return static_cast<double>(count) / static_cast<double>(predicted); };
    QVERIFY2(std::abs(share(hidden) - 0.8) < 0.03 && std::abs(share(stays) - 0.1) < 0.03,
             qPrintable(QStringLiteral("%1 %2").arg(share(hidden)).arg(share(stays))));
  }

  /// The same masks whatever the micro batch, so a batch can be split, and a run resumed.
  void followFromTheExample() {
    const auto masked = with_masked_tokens(text(), mask, 1);
    const Filled together = fill(*masked, {7, 300, 12});
    const Filled alone = fill(*masked, {300});
    QVERIFY(std::equal(alone.tokens.begin(), alone.tokens.end(), together.tokens.begin() + 40));
    QVERIFY(std::equal(alone.labels.begin(), alone.labels.end(), together.labels.begin() + 40));
    QVERIFY(fill(*with_masked_tokens(text(), mask, 2), {300}).labels != alone.labels);
  }

  /// The shortest example has something to predict, and padding is never masked.
  void lengthsMayVary() {
    QTemporaryDir folder;
    QFile file(folder.filePath("lines.txt"));
    QVERIFY(file.open(QIODevice::WriteOnly) && file.write("a\nlonger than that\nbb\n") > 0);
    file.close();
    const auto lines = open_data("lines:" + file.fileName().toStdString() + ",validation=0").train;
    const auto masked = with_masked_tokens(lines, 30, 1);
    const Filled filled = fill(*masked, {0, 1, 2});
    QCOMPARE(filled.layout.loss_terms, std::int64_t{1 + 2 + 1});
    const auto labels = std::count_if(filled.labels.begin(), filled.labels.end(),
                                      [](std::int64_t label) { return label != ignored_target; });
    QCOMPARE(static_cast<std::int64_t>(labels), filled.layout.loss_terms);
    for (const std::int64_t& example : {std::int64_t{0}, std::int64_t{2}}) {
      const std::int64_t length = lines->layout({&example, 1}).length;
      for (std::int64_t place = length; place < filled.layout.length; ++place)
        QCOMPARE(filled.labels[static_cast<std::size_t>(example * filled.layout.length + place)], ignored_target);
    }
  }
};

BATCHSCOPE_TEST(TestMaskedTokens)
#include "tst_masked_tokens.moc"
