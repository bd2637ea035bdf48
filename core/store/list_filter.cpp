#include "core/store/list_filter.h"

#include <algorithm>
#include <cctype>
#include <cmath>
#include <string_view>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "core/base/error.h"
#include "core/base/text.h"
#include "core/store/detail/filter_values.h"

namespace batchscope::store {

namespace {

struct Token {
  enum class Kind { word, quoted, comparison, open, close, end };
  Kind kind = Kind::end;
  std::string text;
  std::size_t position = 0; ///< 1-based
};

[[noreturn]] void refuse(const Token& found, const std::string& problem, const std::string& accepted) {
  const std::string what = found.kind == Token::Kind::end ? "end" : in_quotes(found.text);
  throw input_error(fmt::format("--where: {} {} at position {}; {}", problem, what, found.position, accepted));
}

class Scanner {
public:
  explicit Scanner(std::string_view text) : text_(text) {}

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
    throw input_error(fmt::format("--where: missing closing {} of the text at position {}", quote, token.position));
  }

  std::string_view text_;
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
  explicit Parser(const std::string& text) : scanner_(text) { advance(); }

  RunFilter parse() {
    if (token_.kind == Token::Kind::end)
      return [](const RunRow&) { return true; };
    RunFilter filter = any_of();
    if (token_.kind != Token::Kind::end)
      refuse(token_, "unexpected", "accepted: `and`, `or` or the end");
    return filter;
  }

private:
  void advance() { token_ = scanner_.next(); }
  bool take_word(const char* word) {
    if (token_.kind != Token::Kind::word || token_.text != word)
      return false;
    advance();
    return true;
  }

  RunFilter any_of() {
    std::vector<RunFilter> parts{all_of()};
    while (take_word("or"))
      parts.push_back(all_of());
    return [parts = std::move(parts)](const RunRow& run) {
      return std::any_of(parts.begin(), parts.end(), [&](const RunFilter& part) { return part(run); });
    };
  }

  RunFilter all_of() {
    std::vector<RunFilter> parts{one()};
    while (take_word("and"))
      parts.push_back(one());
    return [parts = std::move(parts)](const RunRow& run) {
      return std::all_of(parts.begin(), parts.end(), [&](const RunFilter& part) { return part(run); });
    };
  }

  RunFilter one() {
    if (token_.kind != Token::Kind::open)
      return comparison();
    // Each level uses stack, here and in the filter; this is deeper than anyone writes by hand.
    constexpr int deepest = 50;
    if (++depth_ > deepest)
      refuse(token_, "too many parentheses:", fmt::format("accepted: at most {} nested", deepest));
    advance();
    RunFilter inner = any_of();
    if (token_.kind != Token::Kind::close)
      refuse(token_, "unexpected", "accepted: `and`, `or` or `)`");
    advance();
    --depth_;
    return inner;
  }

  RunFilter comparison() {
    const RunField field = this->field();
    const std::string operation = this->operation();
    Token value = token_;
    if (value.kind != Token::Kind::word && value.kind != Token::Kind::quoted)
      refuse(value, "unexpected", "accepted: a value; write text with spaces or signs in quotes");
    advance();
    if (!field.number)
      return text_comparison(field, operation, value);
    take_unit(field, value);
    return number_comparison(field, operation, value);
  }

  /// Appends the unit of `90 MB`, which is a separate token.
  void take_unit(const RunField& field, Token& value) {
    if (value.kind != Token::Kind::word || token_.kind != Token::Kind::word)
      return;
    const std::string with_unit = value.text + ' ' + token_.text;
    if (!detail::value_of(field.kind, with_unit))
      return;
    value.text = with_unit;
    advance();
  }

  RunField field() {
    const auto& fields = run_fields();
    const auto found = std::find_if(fields.begin(), fields.end(), [this](const RunField& field) {
      return token_.kind == Token::Kind::word &&
             (token_.text == field.name || (!field.short_name.empty() && token_.text == field.short_name));
    });
    if (found == fields.end())
      refuse(token_, token_.kind == Token::Kind::word ? "unknown field" : "unexpected",
             fmt::format("fields are {}", fmt::join(list_filter_fields(), ", ")));
    advance();
    return *found;
  }

  std::string operation() {
    if (token_.kind != Token::Kind::comparison || token_.text == "!" || token_.text == "==")
      refuse(token_, "unexpected", "accepted: one of = != < <= > >=");
    std::string operation = token_.text;
    advance();
    return operation;
  }

  static RunFilter number_comparison(const RunField& field, const std::string& operation, const Token& value) {
    const auto bound = value.kind == Token::Kind::word ? detail::value_of(field.kind, value.text) : std::nullopt;
    if (!bound)
      refuse(value, "wrong value", fmt::format("{} {}", field.name, detail::accepted_values(field.kind)));
    if (const auto problem = detail::never_holds(field.kind, operation, *bound, value.text); !problem.empty())
      refuse(value, "wrong value", fmt::format("{} {}", field.name, problem));
    return [get = field.number, operation, bound = *bound](const RunRow& run) {
      const auto number = get(run);
      return number && holds_number(operation, *number, bound);
    };
  }

  static RunFilter text_comparison(const RunField& field, const std::string& operation, const Token& value) {
    if (field.name == "status" && !telemetry::status_from(value.text))
      refuse(value, "unknown status", fmt::format("accepted: {}", fmt::join(telemetry::status_names(), ", ")));
    return [get = field.text, operation, text = value.text](const RunRow& run) {
      const auto given = get(run);
      return given && holds(operation, *given, text);
    };
  }

  Scanner scanner_;
  Token token_;
  int depth_ = 0;
};

} // namespace

RunFilter parse_list_filter(const std::string& text) {
  return Parser(text).parse();
}

std::vector<std::string> list_filter_fields() {
  std::vector<std::string> names;
  for (const RunField& field : run_fields())
    names.push_back(field.name);
  return names;
}

std::string list_filter_short_names() {
  std::vector<std::string> names;
  for (const RunField& field : run_fields())
    if (!field.short_name.empty())
      names.push_back(fmt::format("{} for {}", field.short_name, field.name));
  return fmt::format("{}", fmt::join(names, ", "));
}

} // namespace batchscope::store
