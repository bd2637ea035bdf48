#include "core/telemetry/message.h"

#include <algorithm>
#include <array>
#include <map>

namespace batchscope::telemetry {

namespace {

struct Row {
  std::string id;
  const char* text;
  bool is_reason;
};

std::string id_from(std::string_view name) {
  std::string id(name);
  std::replace(id.begin(), id.end(), '_', '-');
  return id;
}

const std::vector<Row>& rows() {
  static const std::vector<Row> all = {
#define WORDS(id, text) {id_from(#id), text, false},
#define REASON(id, text) {id_from(#id), text, true},
#include "core/telemetry/words.def"
#undef WORDS
#undef REASON
  };
  return all;
}

bool ends_with_any(std::string_view name, std::initializer_list<std::string_view> endings) {
  return std::any_of(endings.begin(), endings.end(), [&](std::string_view ending) { return name.ends_with(ending); });
}

/// Texts that are codes themselves, by the names of their arguments: `cause` is one of the words `cause_...`.
std::optional<Words> words_named(const std::string& name, const std::string& text) {
  if (name == "why")
    return words_of_code(text);
  if (name != "cause" && name != "place")
    return std::nullopt;
  const auto found =
      std::find_if(rows().begin(), rows().end(), [id = name + '-' + text](const Row& row) { return row.id == id; });
  return found == rows().end() ? std::nullopt : std::optional(static_cast<Words>(found - rows().begin()));
}

/// Argument for a value of a reason; its type follows from its name.
Argument argument_of(const std::string& name, const Value& value) {
  if (const auto* text = std::get_if<std::string>(&value))
    return Text{*text};
  const auto* integer = std::get_if<std::int64_t>(&value);
  const double number = integer ? static_cast<double>(*integer) : std::get<double>(value);
  if (name.find("bytes") != std::string::npos && number >= 0)
    return Bytes{static_cast<std::uint64_t>(number)};
  if (ends_with_any(name, {"seconds"}))
    return Seconds{number};
  if (ends_with_any(name, {"share"}))
    return Share{number};
  if (!integer)
    return Number{number};
  return ends_with_any(name, {"pid", "rank", "signal", "status"}) ? Argument(Plain{*integer})
                                                                  : Argument(Count{*integer});
}

/// The reason that another one has for its value `name`.
Reason without(Reason reason, const std::string& name, const std::string& code) {
  reason.code = code;
  reason.args.erase(name);
  return reason;
}

/// Fills a pattern, part by part.
class Filler {
public:
  Filler(std::string_view pattern, const Message& message, const std::function<std::string(const Argument&)>& shown)
      : rest_(pattern), message_(message), shown_(shown) {}

  /// Up to the end, or to the `]` of an optional part; `complete` becomes false if an argument is missing.
  std::string part(bool& complete) {
    std::string text;
    while (!rest_.empty()) {
      const char c = rest_.front();
      rest_.remove_prefix(1);
      if (c == ']')
        return text;
      if ((c == '{' || c == '}') && rest_.starts_with(c)) {
        rest_.remove_prefix(1);
        text += c;
      } else if (c == '{') {
        text += argument(complete);
      } else if (c == '[') {
        bool all = true;
        const std::string optional = part(all);
        text += all ? optional : std::string();
      } else {
        text += c;
      }
    }
    return text;
  }

private:
  std::string argument(bool& complete) {
    const std::size_t end = rest_.find('}');
    const std::string_view name = rest_.substr(0, end);
    rest_.remove_prefix(std::min(rest_.size(), name.size() + 1));
    if (const Argument* found = message_.find(name))
      return shown_(*found);
    complete = false;
    return "-";
  }

  std::string_view rest_;
  const Message& message_;
  const std::function<std::string(const Argument&)>& shown_;
};

} // namespace

const std::string& id_of(Words words) {
  return rows().at(static_cast<std::size_t>(words)).id;
}

const char* english_pattern(Words words) {
  return rows().at(static_cast<std::size_t>(words)).text;
}

std::optional<Words> words_of_code(std::string_view code) {
  static const std::map<std::string, Words, std::less<>> codes = [] {
    std::map<std::string, Words, std::less<>> found;
    for (std::size_t i = 0; i < rows().size(); ++i)
      if (rows()[i].is_reason)
        found.emplace(rows()[i].id, static_cast<Words>(i));
    return found;
  }();
  const auto found = codes.find(code);
  return found == codes.end() ? std::nullopt : std::optional(found->second);
}

const Argument* Message::find(std::string_view name) const {
  for (const auto& [known, argument] : arguments)
    if (known == name)
      return &argument;
  return nullptr;
}

bool Message::operator==(const Message& other) const {
  return words == other.words && arguments == other.arguments;
}

Message message_of(const Reason& reason) {
  const auto words = words_of_code(reason.code);
  if (!words)
    return {Words::verbatim, {{"text", Text{reason.text.empty() ? reason.code : reason.text}}}};
  Message message{*words};
  for (const auto& [name, value] : reason.args) {
    const auto* text = std::get_if<std::string>(&value);
    const auto code = text ? words_named(name, *text) : std::nullopt;
    if (code && name == "why") // its own values are beside it
      message.arguments.emplace_back(name, std::vector{message_of(without(reason, name, *text))});
    else
      message.arguments.emplace_back(name, code ? std::vector<Message>{{*code}} : argument_of(name, value));
  }
  return message;
}

std::string filled(std::string_view pattern, const Message& message,
                   const std::function<std::string(const Argument&)>& shown) {
  bool complete = true;
  return Filler(pattern, message, shown).part(complete);
}

} // namespace batchscope::telemetry
