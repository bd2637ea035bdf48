#include "core/filter/condition.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <cmath>
#include <string_view>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "core/base/error.h"
#include "core/base/text.h"
#include "core/filter/values.h"

namespace batchscope::filter {

namespace {

struct Token {
  enum class Kind { word, quoted, comparison, open, close, end };
  Kind kind = Kind::end;
  std::string text;
  std::size_t position = 0; ///< 1-based
};

/// The text of a condition as tokens; errors name the option.
class Scanner {
public:
  Scanner(std::string_view text, std::string option) : text_(text), option_(std::move(option)) {}

  Token next() {
    while (at_ < text_.size() && std::isspace(static_cast<unsigned char>(text_[at_])))
      ++at_;
    if (at_ == text_.size())
      return {Token::Kind::end, "", at_ + 1};
    const char c = text_[at_];
    if (c == '(' || c == ')')
      return take(c == '(' ? Token::Kind::open : Token::Kind::close, at_ + 1);
    if (c == '"' || c == '\'')
      return in_quotes(c);
    if (is_comparison(c))
      return take(Token::Kind::comparison, at_ + (at_ + 1 < text_.size() && text_[at_ + 1] == '=' ? 2 : 1));
    std::size_t end = at_;
    while (end < text_.size() && !std::isspace(static_cast<unsigned char>(text_[end])) && !is_comparison(text_[end]) &&
           std::string_view("()\"'").find(text_[end]) == std::string_view::npos)
      ++end;
    return take(Token::Kind::word, end);
  }

  [[noreturn]] void refuse(const Token& found, const std::string& problem, const std::string& accepted) const {
    const std::string what = found.kind == Token::Kind::end ? "end" : batchscope::in_quotes(found.text);
    throw input_error(fmt::format("{}: {} {} at position {}; {}", option_, problem, what, found.position, accepted));
  }

private:
  static bool is_comparison(char c) { return c == '=' || c == '!' || c == '<' || c == '>'; }

  Token take(Token::Kind kind, std::size_t end) {
    Token token{kind, std::string(text_.substr(at_, end - at_)), at_ + 1};
    at_ = end;
    return token;
  }

  Token in_quotes(char quote) {
    Token token{Token::Kind::quoted, "", at_ + 1};
    for (++at_; at_ < text_.size(); ++at_) {
      if (text_[at_] == quote) {
        ++at_;
        if (at_ == text_.size() || text_[at_] != quote)
          return token;
      }
      token.text += text_[at_];
    }
    throw input_error(fmt::format("{}: missing closing {} of the text at position {}", option_, quote, token.position));
  }

  std::string_view text_;
  std::string option_;
  std::size_t at_ = 0;
};

template <typename T> bool holds(const std::string& operation, const T& a, const T& b) {
  if (operation == "=")
    return a == b;
  if (operation == "!=")
    return !(a == b);
  if (operation == "<")
    return a < b;
  if (operation == "<=")
    return a <= b;
  return operation == ">" ? a > b : a >= b;
}

bool holds_number(const std::string& operation, double a, double b) {
  if (!std::isnan(a) && !std::isnan(b))
    return holds(operation, a, b);
  const bool both = std::isnan(a) && std::isnan(b);
  return (operation == "=" && both) || (operation == "!=" && !both);
}

class Parser {
public:
  Parser(const std::string& text, const std::vector<Field>& fields, const std::string& option, const MoreFields& more)
      : fields_(fields), more_(more), scanner_(text, option) {
    advance();
  }

  Condition parse() {
    if (token_.kind == Token::Kind::end)
      return [](const Values&) { return true; };
    Condition condition = any_of();
    if (token_.kind != Token::Kind::end)
      refuse("unexpected", "accepted: `and`, `or` or the end");
    return condition;
  }

private:
  [[noreturn]] void refuse(const std::string& problem, const std::string& accepted) const {
    scanner_.refuse(token_, problem, accepted);
  }
  void advance() { token_ = scanner_.next(); }
  bool take_word(const char* word) {
    if (token_.kind != Token::Kind::word || token_.text != word)
      return false;
    advance();
    return true;
  }

  Condition any_of() {
    std::vector<Condition> parts{all_of()};
    while (take_word("or"))
      parts.push_back(all_of());
    return [parts = std::move(parts)](const Values& values) {
      return std::any_of(parts.begin(), parts.end(), [&](const Condition& part) { return part(values); });
    };
  }

  Condition all_of() {
    std::vector<Condition> parts{one()};
    while (take_word("and"))
      parts.push_back(one());
    return [parts = std::move(parts)](const Values& values) {
      return std::all_of(parts.begin(), parts.end(), [&](const Condition& part) { return part(values); });
    };
  }

  Condition one() {
    if (token_.kind != Token::Kind::open)
      return comparison();
    // Each level uses stack, here and in the filter; this is deeper than anyone writes by hand.
    constexpr int deepest = 50;
    if (++depth_ > deepest)
      refuse("too many parentheses:", fmt::format("accepted: at most {} nested", deepest));
    advance();
    Condition inner = any_of();
    if (token_.kind != Token::Kind::close)
      refuse("unexpected", "accepted: `and`, `or` or `)`");
    advance();
    --depth_;
    return inner;
  }

  Condition comparison() {
    const std::size_t field = this->field();
    const std::string operation = this->operation();
    Token value = token_;
    if (value.kind != Token::Kind::word && value.kind != Token::Kind::quoted)
      refuse("unexpected", "accepted: a value; write text with spaces or signs in quotes");
    advance();
    if (field >= fields_.size())
      return untyped_comparison(field, operation, value);
    if (fields_[field].is_text)
      return text_comparison(field, operation, value);
    take_unit(fields_[field].kind, value);
    return number_comparison(field, operation, value);
  }

  /// Appends the unit of `90 MB`, which is a separate token.
  void take_unit(telemetry::ValueKind kind, Token& value) {
    if (value.kind != Token::Kind::word || token_.kind != Token::Kind::word)
      return;
    const std::string with_unit = value.text + ' ' + token_.text;
    if (!value_of(kind, with_unit))
      return;
    value.text = with_unit;
    advance();
  }

  std::size_t field() {
    const auto found = std::find_if(fields_.begin(), fields_.end(), [this](const Field& field) {
      return token_.kind == Token::Kind::word &&
             (token_.text == field.name || (!field.short_name.empty() && token_.text == field.short_name));
    });
    auto index = static_cast<std::size_t>(found - fields_.begin());
    if (found == fields_.end()) {
      const bool name = token_.kind == Token::Kind::word || (token_.kind == Token::Kind::quoted && more_.find);
      const auto more = name && more_.find ? more_.find(token_.text) : std::nullopt;
      if (!more)
        refuse(name ? "unknown field" : "unexpected", "fields are " + names());
      index = *more;
    }
    advance();
    return index;
  }

  std::string names() const {
    std::vector<std::string> names;
    for (const Field& field : fields_)
      names.push_back(field.name);
    return fmt::format("{}{}", fmt::join(names, ", "), more_.accepted ? more_.accepted() : "");
  }

  std::string operation() {
    if (token_.kind != Token::Kind::comparison || token_.text == "!" || token_.text == "==")
      refuse("unexpected", "accepted: one of = != < <= > >=");
    std::string operation = token_.text;
    advance();
    return operation;
  }

  Condition number_comparison(std::size_t index, const std::string& operation, const Token& value) const {
    const Field& field = fields_[index];
    const auto bound = value.kind == Token::Kind::word ? value_of(field.kind, value.text) : std::nullopt;
    if (!bound)
      scanner_.refuse(value, "wrong value", fmt::format("{} {}", field.name, accepted_values(field.kind)));
    if (const auto problem = never_holds(field.kind, operation, *bound, value.text); !problem.empty())
      scanner_.refuse(value, "wrong value", fmt::format("{} {}", field.name, problem));
    return [index, operation, bound = *bound](const Values& values) {
      const auto number = values.number(index);
      return number && holds_number(operation, *number, bound);
    };
  }

  Condition text_comparison(std::size_t index, const std::string& operation, const Token& value) const {
    const Field& field = fields_[index];
    if (!field.choices.empty() &&
        std::find(field.choices.begin(), field.choices.end(), value.text) == field.choices.end())
      scanner_.refuse(value, "unknown " + field.name, fmt::format("accepted: {}", fmt::join(field.choices, ", ")));
    if (field.is_list)
      return [index, operation, text = value.text](const Values& values) {
        const auto given = values.texts(index);
        const auto matches = [&](const std::string& each) { return holds(operation, each, text); };
        return operation == "!=" ? std::all_of(given.begin(), given.end(), matches)
                                 : std::any_of(given.begin(), given.end(), matches);
      };
    return [index, operation, text = value.text](const Values& values) {
      const auto given = values.text(index);
      return given && holds(operation, *given, text);
    };
  }

  /// A number in any unit, or a text.
  Condition untyped_comparison(std::size_t index, const std::string& operation, Token& value) {
    using telemetry::ValueKind;
    constexpr std::array kinds = {ValueKind::number, ValueKind::bytes, ValueKind::seconds, ValueKind::fraction};
    for (const ValueKind kind : kinds)
      take_unit(kind, value);
    std::optional<double> bound;
    for (const ValueKind kind : kinds)
      if (!bound && value.kind == Token::Kind::word)
        bound = value_of(kind, value.text);
    return [index, operation, bound, text = value.text](const Values& values) {
      const auto number = values.number(index);
      const auto given = number ? std::nullopt : values.text(index);
      if (bound && number)
        return holds_number(operation, *number, *bound);
      if (!bound && given)
        return holds(operation, *given, text);
      return operation == "!=" && (number || given);
    };
  }

  const std::vector<Field>& fields_;
  const MoreFields& more_;
  Scanner scanner_;
  Token token_;
  int depth_ = 0;
};

} // namespace

Condition parse_condition(const std::string& text, const std::vector<Field>& fields, const std::string& option,
                          const MoreFields& more) {
  return Parser(text, fields, option, more).parse();
}

} // namespace batchscope::filter
