#include "core/base/json.h"

#include <QTest>

#include "core/base/error.h"
#include "test_program.h"

using namespace batchscope;

class JsonTest : public QObject {
  Q_OBJECT

private Q_SLOTS:
  /// Values are copied and written by functions that call themselves: 100,000 levels would end the program.
  void depthIsLimited() {
    const auto nested = [](std::size_t levels, const std::string& inside) {
      return std::string(levels, '[') + inside + std::string(levels, ']');
    };
    const std::string brackets = json_text(Json(std::string(1000, '[') + R"(\"{)"));
    QCOMPARE(json_text(parse_json(nested(499, "[" + brackets + "]"))), nested(500, brackets));
    for (const std::string& text :
         {nested(501, ""), nested(100'000, ""), std::string(100'000, '['), R"({"a":)" + nested(500, "") + "}"}) {
      QVERIFY_EXCEPTION_THROWN(parse_json(text), Error);
      QVERIFY(parse_json_or_discard(text).is_discarded());
    }
  }

  void errorsHaveAPlace() {
    try {
      parse_json("{\n  \"a\": 1,\n  b\n}");
      QFAIL("accepted");
    } catch (const Error& error) {
      QCOMPARE(error.what(), "line 3, column 3: not valid JSON");
    }
  }
};

BATCHSCOPE_TEST(JsonTest)
#include "tst_json.moc"
