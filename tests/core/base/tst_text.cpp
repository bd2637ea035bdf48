#include "core/base/text.h"

#include <cmath>
#include <limits>

#include <QTest>

#include "core/base/error.h"
#include "core/base/json.h"
#include "test_program.h"

using namespace batchscope;

class TestText : public QObject {
  Q_OBJECT

private Q_SLOTS:
  void sizes_data();
  void sizes();
  void badSizes_data();
  void badSizes();
  void integers();
  void numbers();
  void named();
  void badNamed_data();
  void badNamed();
  void formats();
  void oneLine();
  void shellQuoted();
  void longTextsAreCut();
  void noErrorRepeatsAllThatWasGiven();
  void nonFiniteNumbersSurviveJson();
  void numbersBeyondAllRangesAreNoJson();
};

namespace {

/// The message of the Error that `call` throws; empty where it throws none.
template <typename Call> std::string message_of(const Call& call) {
  try {
    call();
  } catch (const Error& error) {
    return error.kind() == Error::Kind::input ? error.what() : "another kind";
  }
  return {};
}

} // namespace

void TestText::sizes_data() {
  QTest::addColumn<QString>("text");
  QTest::addColumn<quint64>("bytes");
  QTest::newRow("decimal") << "400MB" << quint64{400'000'000};
  QTest::newRow("binary") << "400MiB" << quint64{419'430'400};
  QTest::newRow("bare") << "12345" << quint64{12'345};
  QTest::newRow("bytes") << "7B" << quint64{7};
  QTest::newRow("case") << "2gib" << quint64{2'147'483'648};
  QTest::newRow("fraction") << "1.5GB" << quint64{1'500'000'000};
  QTest::newRow("tenth") << "0.3KB" << quint64{300};
  QTest::newRow("space") << "64 MB" << quint64{64'000'000};
  QTest::newRow("tera") << "3TiB" << quint64{3'298'534'883'328};
  QTest::newRow("largest") << "9223372036854775807" << quint64{9'223'372'036'854'775'807ULL};
}

void TestText::sizes() {
  QFETCH(QString, text);
  QFETCH(quint64, bytes);
  QCOMPARE(quint64{parse_size(text.toStdString(), "--memory-budget")}, bytes);
}

void TestText::badSizes_data() {
  QTest::addColumn<QString>("text");
  for (const char* text : {"",
                           "0",
                           "0MB",
                           "-1",
                           "-5MB",
                           "MB",
                           "4XB",
                           "4M B",
                           "1.5",
                           "nan",
                           "1e9",
                           "4MBs",
                           " 4MB",
                           "4  MB",
                           "0.1B",
                           "4 ",
                           "9223372036854775808",
                           "99999999999999999999999",
                           "9223372036854775807KB",
                           "4MiBB",
                           "1,5GB",
                           "inf"})
    QTest::newRow(text) << QString(text);
}

void TestText::badSizes() {
  QFETCH(QString, text);
  const std::string message = message_of([&] { parse_size(text.toStdString(), "--memory-budget"); });
  QVERIFY2(message.find("--memory-budget") != std::string::npos, message.c_str());
  QVERIFY2(message.find('"' + text.toStdString() + '"') != std::string::npos, message.c_str());
  QVERIFY2(message.find("400MB") != std::string::npos, message.c_str());
}

void TestText::integers() {
  QCOMPARE(parse_integer("-3", "x", -5, 5), std::int64_t{-3});
  QCOMPARE(parse_integer("9223372036854775807", "x", 0, std::numeric_limits<std::int64_t>::max()),
           std::numeric_limits<std::int64_t>::max());
  for (const char* text : {"", "6", "-6", "1.0", "1e1", "x", "1 ", " 1", "+1", "99999999999999999999"}) {
    const std::string message = message_of([&] { parse_integer(text, "--batch", -5, 5); });
    QVERIFY2(message.find("--batch") != std::string::npos && message.find("-5 to 5") != std::string::npos, text);
  }
}

void TestText::numbers() {
  QCOMPARE(parse_number("0.1", "--lr"), 0.1);
  QCOMPARE(parse_number("-2e-3", "--lr"), -0.002);
  for (const char* text : {"", "nan", "inf", "-inf", "NaN", "1e999", "0.1x", "0,1", "--1", " 1"}) {
    const std::string message = message_of([&] { parse_number(text, "--lr"); });
    QVERIFY2(message.find("--lr") != std::string::npos && message.find("finite") != std::string::npos, text);
  }
}

void TestText::named() {
  const NamedParameters plain = parse_named("cnn", "--model");
  QCOMPARE(plain.name, std::string("cnn"));
  QVERIFY(plain.parameters.empty());
  const NamedParameters full = parse_named("csv:a=b=c,target=,width=32", "--data");
  QCOMPARE(full.name, std::string("csv"));
  const std::vector<std::pair<std::string, std::string>> expected{{"a", "b=c"}, {"target", ""}, {"width", "32"}};
  QVERIFY(full.parameters == expected);
}

void TestText::badNamed_data() {
  QTest::addColumn<QString>("text");
  for (const char* text : {"", ":", ":a=1", "cnn:", "cnn:width", "cnn:=3", "cnn:a=1,", "cnn:a=1,,b=2", "cnn:a=1,a=2"})
    QTest::newRow(text) << QString(text);
}

void TestText::badNamed() {
  QFETCH(QString, text);
  const std::string message = message_of([&] { parse_named(text.toStdString(), "--model"); });
  QVERIFY2(message.find("--model") != std::string::npos, message.c_str());
}

void TestText::formats() {
  QCOMPARE(format_bytes(0), std::string("0 B"));
  QCOMPARE(format_bytes(999), std::string("999 B"));
  QCOMPARE(format_bytes(104'300'000), std::string("104.3 MB"));
  QCOMPARE(format_bytes(999'950), std::string("1.0 MB"));
  QCOMPARE(format_bytes(1'500'000'000'000), std::string("1.5 TB"));
  QCOMPARE(format_count(0), std::string("0"));
  QCOMPARE(format_count(999), std::string("999"));
  QCOMPARE(format_count(12'345), std::string("12,345"));
  QCOMPARE(format_count(-1'234'567), std::string("-1,234,567"));
  QCOMPARE(format_count(std::numeric_limits<std::int64_t>::min()), std::string("-9,223,372,036,854,775,808"));
  QCOMPARE(format_duration(0.000347), std::string("0.35 ms"));
  QCOMPARE(format_duration(0.0071), std::string("7.1 ms"));
  QCOMPARE(format_duration(0.0412), std::string("41 ms"));
  QCOMPARE(format_duration(12.34), std::string("12.3 s"));
  QCOMPARE(format_duration(41), std::string("0:41"));
  QCOMPARE(format_duration(3723), std::string("1:02:03"));
  QCOMPARE(format_duration(3599.9), std::string("1:00:00"));
  QCOMPARE(format_duration(std::nan("")), std::string("-"));
}

void TestText::oneLine() {
  QCOMPARE(one_line("a run"), std::string("a run"));
  QCOMPARE(one_line(" \t a\r\nb\x1b[31m\x7f\n"), std::string("a b [31m"));
  QCOMPARE(one_line("\xc3\xa4  \xc3\xb6"), std::string("\xc3\xa4 \xc3\xb6"));
  QCOMPARE(one_line(" \n"), std::string());
  QCOMPARE(std::string(trimmed(" \t a b\r\n")), std::string("a b"));
  QCOMPARE(std::string(trimmed("a")), std::string("a"));
  QVERIFY(trimmed(" \n").empty() && trimmed("").empty());
}

void TestText::shellQuoted() {
  QCOMPARE(shell_quoted("/a/runs.db"), std::string("/a/runs.db"));
  QCOMPARE(shell_quoted("my runs.db"), std::string("'my runs.db'"));
  QCOMPARE(shell_quoted("it's $HOME"), std::string("'it'\\''s $HOME'"));
  QCOMPARE(shell_quoted(""), std::string("''"));
}

void TestText::longTextsAreCut() {
  QCOMPARE(shortened("short"), std::string("short"));
  QCOMPARE(in_quotes("short"), std::string("\"short\""));
  QCOMPARE(shortened(std::string(200, 'a')), std::string(200, 'a'));
  QCOMPARE(shortened("abcdef", 3), std::string("abc... (6 characters)"));
  QCOMPARE(shortened(std::string(10'000'000, 'a')), std::string(200, 'a') + "... (10,000,000 characters)");
  // Not in the middle of a character.
  std::string umlauts = "x";
  for (int i = 0; i < 1000; ++i)
    umlauts += "\xc3\xa4";
  QCOMPARE(shortened(umlauts), umlauts.substr(0, 199) + "... (1,001 characters)");
}

void TestText::noErrorRepeatsAllThatWasGiven() {
  const std::string huge(10'000'000, 'x');
  const auto message = [](auto&& call) {
    try {
      call();
    } catch (const Error& error) {
      return std::string(error.what());
    }
    return std::string();
  };
  for (const std::string& what :
       {message([&] { parse_size(huge, "--memory-budget"); }), message([&] { parse_integer(huge, "--steps", 1, 9); }),
        message([&] { parse_number(huge, "--lr"); }), message([&] { parse_named(huge + ":a", "--model"); }),
        message([&] { parse_named("cnn:" + huge + "=1," + huge + "=2", "--model"); }),
        message([&] { throw input_error("a file: " + huge + ": is not accepted; accepted: less"); })}) {
    QVERIFY2(!what.empty() && what.size() <= 3100, qPrintable(QString::number(what.size())));
    QVERIFY(what.find("accepted: ") != what.npos || what.find("is given twice") != what.npos);
  }
}

void TestText::nonFiniteNumbersSurviveJson() {
  const double infinity = std::numeric_limits<double>::infinity();
  QCOMPARE(number_from_json(json_number(0.25)), 0.25);
  QCOMPARE(number_from_json(json_number(infinity)), infinity);
  QCOMPARE(number_from_json(json_number(-infinity)), -infinity);
  QVERIFY(std::isnan(number_from_json(json_number(std::nan("")))));
  QCOMPARE(json_number(-infinity).dump(), std::string("\"-Infinity\""));
}

void TestText::numbersBeyondAllRangesAreNoJson() {
  try {
    parse_json("{\"lr\": 1e999}");
    QFAIL("accepted");
  } catch (const Error& error) {
    QCOMPARE(error.kind(), Error::Kind::input);
    const std::string what = error.what();
    QVERIFY2(what.find("1e999") != what.npos && what.find("exception") == what.npos, what.c_str());
    QVERIFY2(what.find('\n') == what.npos, what.c_str());
  }
}

BATCHSCOPE_TEST(TestText)
#include "tst_text.moc"
