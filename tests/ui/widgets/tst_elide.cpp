#include "ui/widgets/elide.h"

#include <QApplication>
#include <QStandardItemModel>
#include <QTableView>
#include <QTest>

#include <array>
#include <random>

#include "test_program.h"
#include "ui/widgets/widgets.h"

using namespace batchscope::ui;

namespace {

QStringList numbers_in(const QString& text) {
  QStringList numbers;
  for (const QString& word : text.split(u' ', Qt::SkipEmptyParts))
    if (is_number_word(word))
      numbers << word;
  return numbers;
}

QString random_text(std::mt19937& random) {
  const QStringList words{"batch",  "64", "12,345", "1.152e-6", "lr",    "0.001",        "resnet18", "97.3",
                          "%",      "±",  "0.006",  "MB",       "3.3MB", "0:41",         "(32",      "seed",
                          "a-name", "-5", "of",     "running",  "47",    "learning-rate"};
  QStringList text;
  for (std::size_t i = 0, count = 1 + random() % 7; i < count; ++i)
    text << words[qsizetype(random() % std::size_t(words.size()))];
  return text.join(u' ');
}

} // namespace

class TestElide : public QObject {
  Q_OBJECT

private Q_SLOTS:
  void tellsNumbersFromNames() {
    for (const char* number : {"7", "12,345", "1.152e-6", "-0.5", "+3", "±0.1", "50%", "3.3MB", "0:41", ".5", "(32"})
      QVERIFY2(is_number_word(QString(number)), number);
    for (const char* name : {"", "lr0.1", "resnet18", "±", "-", "a", "batch-64"})
      QVERIFY2(!is_number_word(QString(name)), name);
  }

  void leavesOutWhatDoesNotFit() {
    const QFontMetricsF metrics(QApplication::font());
    const auto to = [&](const QString& text, const QString& room) {
      return fitted_text(text, metrics, metrics.horizontalAdvance(room + "…") + 0.5, Qt::ElideRight);
    };
    QCOMPARE(to("steps 12,000", "steps 12,0"), QString("steps…"));
    QCOMPARE(to("1.152e-6", "1.152"), QString("…"));
    QCOMPARE(to("a long name", "a long n"), QString("a long n…"));
    QCOMPARE(to("12,000", "12,000"), QString("12,000"));
  }

  void neverCutsANumber() {
    std::mt19937 random(1); // NOLINT(cert-msc51-cpp): the same each time
    const QFontMetricsF metrics(QApplication::font());
    constexpr std::array modes{Qt::ElideLeft, Qt::ElideMiddle, Qt::ElideRight};
    int cut = 0;
    for (int i = 0; i < 20'000; ++i) {
      const QString text = random_text(random);
      const double width = double(random() % 300);
      const QString fitted = fitted_text(text, metrics, width, modes[random() % modes.size()]);
      QVERIFY2(metrics.horizontalAdvance(fitted) <= std::max(width, metrics.horizontalAdvance(u'…')) + 0.5,
               qPrintable(text + '|' + fitted));
      if (fitted == text)
        continue;
      ++cut;
      QStringList before = numbers_in(text);
      for (const QString& number : numbers_in(QString(fitted).replace(QChar(u'…'), u' ')))
        QVERIFY2(before.removeOne(number), qPrintable(text + " | " + fitted));
    }
    QVERIFY(cut > 5'000);
  }

  /// In a table, at all widths of its columns.
  void cellsOfTables() {
    QStandardItemModel model(1, 3);
    const QStringList texts{"12,345,678", "97.31 % ± 0.12", "a name that is long"};
    for (int column = 0; column < 3; ++column)
      model.setItem(0, column, new QStandardItem(texts[column]));
    QTableView table;
    table.setModel(&model);
    prepare_table(table);
    table.resize(600, 100);
    auto* cells = qobject_cast<CellDelegate*>(table.itemDelegate());
    QVERIFY(cells);
    for (int width = 4; width < 300; width += 3)
      for (int column = 0; column < 3; ++column) {
        table.setColumnWidth(column, width);
        QStyleOptionViewItem option;
        option.initFrom(&table);
        option.font = table.font();
        option.widget = &table;
        option.rect = table.visualRect(model.index(0, column));
        const QString shown = cells->shown_text(option, model.index(0, column));
        QStringList before = numbers_in(texts[column]);
        for (const QString& number : numbers_in(QString(shown).replace(QChar(u'…'), u' ')))
          QVERIFY2(before.removeOne(number), qPrintable(shown));
        QVERIFY(width < 290 || shown == texts[column] || option.rect.right() > table.viewport()->width());
      }
  }

  /// A cell that the edge of the table cuts.
  void cellsAtTheEdge() {
    QStandardItemModel model(1, 2);
    for (int column = 0; column < 2; ++column)
      model.setItem(0, column, new QStandardItem("12,345,678"));
    QTableView table;
    table.setModel(&model);
    prepare_table(table);
    table.resize(200, 100);
    table.setColumnWidth(0, 170);
    table.setColumnWidth(1, 170);
    table.show();
    QVERIFY(QTest::qWaitForWindowExposed(&table));
    auto* cells = qobject_cast<CellDelegate*>(table.itemDelegate());
    const auto shown = [&](int column) {
      QStyleOptionViewItem option;
      option.initFrom(&table);
      option.font = table.font();
      option.widget = &table;
      option.rect = table.visualRect(model.index(0, column));
      return cells->shown_text(option, model.index(0, column));
    };
    QCOMPARE(shown(0), QString("12,345,678"));
    QVERIFY2(shown(1).size() <= 1, qPrintable(shown(1)));
  }
};

BATCHSCOPE_TEST(TestElide)
#include "tst_elide.moc"
