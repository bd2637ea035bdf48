#include "core/base/json_fields.h"

#include <cmath>

#include <QTest>

#include "core/base/error.h"
#include "test_program.h"

using namespace batchscope;

namespace {

enum class Colour { red, green, nameless };
constexpr std::array<Named<Colour>, 2> colours{{{Colour::red, "red"}, {Colour::green, "green"}}};

struct Pair {
  std::int64_t first = 0;
  double second = 0;
  bool operator==(const Pair&) const = default;
};

template <typename Io> void fields(Io& io, typename Io::template Of<Pair>& pair) {
  io("first", pair.first);
  io("second", pair.second);
}

struct Whole {
  bool truth = false;
  int small = 0;
  std::uint64_t bytes = 0;
  std::string text;
  std::optional<double> perhaps;
  std::optional<std::int64_t> rarely;
  std::vector<Pair> pairs;
  std::vector<Pair> rows;
  std::array<std::uint64_t, 2> two{};
  std::map<std::string, double> by_name;
  Colour colour = Colour::red;
  Pair inner;
  bool operator==(const Whole&) const = default;
};

template <typename Io> void fields(Io& io, typename Io::template Of<Whole>& whole) {
  io("truth", whole.truth);
  io("small", whole.small);
  io("bytes", whole.bytes);
  io("text", whole.text);
  io("perhaps", whole.perhaps);
  io.sparse("rarely", whole.rarely);
  io("pairs", whole.pairs);
  io.rows("rows", whole.rows, &Pair::first, &Pair::second);
  io("two", whole.two);
  io("by_name", whole.by_name);
  io.named("colour", whole.colour, colours);
  io("inner", whole.inner);
}

Whole filled() {
  return {.truth = true,
          .small = -7,
          .bytes = UINT64_MAX,
          .text = "a \"b\" \xc3\xa4",
          .perhaps = -INFINITY,
          .rarely = 3,
          .pairs = {{1, 0.1}, {INT64_MIN, 1e308}},
          .rows = {{2, 0.5}},
          .two = {8, 9},
          .by_name = {{"x", 1}, {"y", 2}},
          .colour = Colour::green,
          .inner = {4, 5}};
}

Whole read(const char* text, JsonReader::Mistyped mistyped) {
  return value_of_fields<Whole>(parse_json(text), mistyped, "whole");
}

QString refusal(const char* text) {
  try {
    read(text, JsonReader::Mistyped::refused);
  } catch (const Error& error) {
    return error.what();
  }
  return "accepted";
}

} // namespace

class JsonFieldsTest : public QObject {
  Q_OBJECT

private Q_SLOTS:
  void bothDirectionsAreOneDeclaration() {
    for (const Whole& whole : {Whole(), filled()}) {
      const Json json = parse_json(json_text(json_of_fields(whole)));
      for (const auto mistyped : {JsonReader::Mistyped::stays, JsonReader::Mistyped::refused})
        QVERIFY(value_of_fields<Whole>(json, mistyped) == whole);
    }
    const Json empty = json_of_fields(Whole());
    QVERIFY(empty["perhaps"].is_null() && !empty.contains("rarely") && empty["rows"].is_array());
    QCOMPARE(json_text(json_of_fields(filled())["rows"]), std::string("[[2,0.5]]"));
  }

  void whatHasNoNameIsLeftOut() {
    Whole whole;
    whole.colour = Colour::nameless;
    QVERIFY(!json_of_fields(whole).contains("colour"));
  }

  void whatIsMissingOrNullHasItsDefault() {
    QVERIFY(read("{}", JsonReader::Mistyped::refused) == Whole());
    QVERIFY(read(R"({"text":null,"pairs":null,"inner":null,"two":null})", JsonReader::Mistyped::refused) == Whole());
  }

  void aMistypedValueIsNamedByItsPath_data() {
    QTest::addColumn<QString>("message");
    const auto row = [](const char* text, const char* message) { QTest::newRow(text) << message; };
    row(R"({"truth":1})", R"(field "whole.truth": 1 is not accepted; accepted: true or false)");
    row(R"({"small":2147483648})", R"(field "whole.small": 2147483648 is not accepted; accepted: a whole number of )"
                                   "at most 32 bits");
    row(R"({"bytes":-1})", R"(field "whole.bytes": -1 is not accepted; accepted: a whole number, at least 0)");
    row(R"({"text":3})", R"(field "whole.text": 3 is not accepted; accepted: a string)");
    row(R"({"perhaps":"x"})", R"(field "whole.perhaps": "x" is not accepted; accepted: a number)");
    row(R"({"rarely":1.5})", R"(field "whole.rarely": 1.5 is not accepted; accepted: a whole number)");
    row(R"({"pairs":{}})", R"(field "whole.pairs": {} is not accepted; accepted: a list)");
    row(R"({"pairs":[7]})", R"(field "whole.pairs": 7 is not accepted; accepted: an object)");
    row(R"({"rows":[[1]]})", R"(field "whole.rows": [1] is not accepted; accepted: a list of 2 values)");
    row(R"({"two":[1,2,3]})", R"(field "whole.two": [1,2,3] is not accepted; accepted: a list of 2 values)");
    row(R"({"by_name":{"x":[]}})", R"(field "whole.by_name.x": [] is not accepted; accepted: a number)");
    row(R"({"colour":"blue"})", R"(field "whole.colour": "blue" is not accepted; accepted: red, green)");
    row(R"({"inner":{"first":18446744073709551615}})",
        R"(field "whole.inner.first": 18446744073709551615 is not accepted; accepted: a whole number)");
  }
  void aMistypedValueIsNamedByItsPath() {
    QFETCH(QString, message);
    QCOMPARE(refusal(QTest::currentDataTag()), message);
    // Or it stays as it was.
    const Whole whole = read(QTest::currentDataTag(), JsonReader::Mistyped::stays);
    QVERIFY(whole == Whole());
  }

  void whatIsNotListedIsTheRest() {
    const Json json = parse_json(R"({"first":1,"second":"x","third":3})");
    JsonReader reader(json);
    Pair pair;
    fields(reader, pair);
    QCOMPARE(json_text(reader.rest()), std::string(R"({"second":"x","third":3})"));
  }

  void whatIsRequiredMustBeThere() {
    for (const char* text : {"{}", R"({"first":null})", "[]"}) {
      const Json json = parse_json(text);
      JsonReader reader(json);
      std::int64_t first = 0;
      QVERIFY_EXCEPTION_THROWN(reader.required("first", first), Error);
    }
  }
};

BATCHSCOPE_TEST(JsonFieldsTest)
#include "tst_json_fields.moc"
