#include "core/exchange/detail/yaml.h"

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "core/base/text.h"
#include "core/exchange/detail/imported_run.h"

namespace batchscope::exchange::detail {

namespace {

constexpr int deepest = 64;

std::string without_quotes(std::string_view text) {
  if (text.front() == '"') {
    const Json json = parse_json_or_discard(std::string(text));
    return json.is_string() ? json.get<std::string>() : std::string(text.substr(1, text.size() - 2));
  }
  std::string plain;
  for (std::size_t i = 1; i + 1 < text.size(); ++i) {
    plain += text[i];
    if (text[i] == '\'' && text[i + 1] == '\'')
      ++i;
  }
  return plain;
}

bool is_quoted(std::string_view text) {
  return text.size() >= 2 && (text.front() == '"' || text.front() == '\'') && text.back() == text.front();
}

Json value_of_scalar(const std::string& text) {
  if (text.empty() || text == "null" || text == "~")
    return nullptr;
  if (is_quoted(text))
    return without_quotes(text);
  if (text == "true" || text == "false")
    return text == "true";
  for (const auto& [theirs, number] : {std::pair{".nan", "NaN"}, {".inf", "Infinity"}, {"-.inf", "-Infinity"}})
    if (text == theirs)
      return number;
  if (text.front() == '[' || text.front() == '{')
    if (Json json = read_python_json(text); !json.is_discarded())
      return json;
  return value_of_text(text);
}

class YamlReader {
public:
  explicit YamlReader(std::string_view text) {
    for (std::size_t begin = 0; begin < text.size();) {
      const std::size_t end = std::min(text.find('\n', begin), text.size());
      add_line(text.substr(begin, end - begin));
      begin = end + 1;
    }
  }

  Json read() { return lines_.empty() ? Json() : block(lines_.front().indent, 0); }

private:
  struct Line {
    std::size_t indent = 0;
    std::string text; ///< without the blanks at its ends
  };

  void add_line(std::string_view line) {
    const std::string_view text = trimmed(line);
    if (!text.empty() && !text.starts_with('#') && text != "---")
      lines_.push_back({line.find_first_not_of(' '), std::string(text)});
  }

  bool at(std::size_t indent) const { return next_ < lines_.size() && lines_[next_].indent == indent; }
  bool deeper_than(std::size_t indent) const { return next_ < lines_.size() && lines_[next_].indent > indent; }
  static bool is_item(const std::string& text) { return text == "-" || text.starts_with("- "); }

  /// Key and value of a line, if it is one of a mapping.
  static std::optional<std::pair<std::string, std::string>> member(const std::string& text) {
    const bool quoted = text.front() == '"' || text.front() == '\'';
    const std::size_t key_end = quoted ? text.find(text.front(), 1) : 0;
    if (key_end == std::string::npos)
      return std::nullopt;
    std::size_t colon = text.find(": ", key_end);
    if (colon == std::string::npos && text.back() == ':')
      colon = text.size() - 1;
    if (colon == std::string::npos)
      return std::nullopt;
    std::string key(trimmed(text.substr(0, colon)));
    return std::pair(is_quoted(key) ? without_quotes(key) : key, std::string(trimmed(text.substr(colon + 1))));
  }

  Json block(std::size_t indent, int depth) {
    if (depth > deepest)
      return skip_from(indent);
    if (is_item(lines_[next_].text))
      return list(indent, depth);
    if (member(lines_[next_].text))
      return mapping(indent, depth);
    return value_of_scalar(continued(std::exchange(lines_[next_++].text, {}), indent));
  }

  Json skip_from(std::size_t indent) {
    while (next_ < lines_.size() && lines_[next_].indent >= indent)
      ++next_;
    return nullptr;
  }

  Json mapping(std::size_t indent, int depth) {
    Json object = Json::object();
    while (at(indent) && !is_item(lines_[next_].text)) {
      auto found = member(lines_[next_].text);
      ++next_;
      if (found)
        object[found->first] = value(std::move(found->second), indent, depth);
    }
    return object;
  }

  Json list(std::size_t indent, int depth) {
    Json array = Json::array();
    while (at(indent) && is_item(lines_[next_].text)) {
      std::string item(trimmed(lines_[next_].text.substr(1)));
      if (!item.empty() && (is_item(item) || (!is_quoted(item) && member(item)))) {
        lines_[next_] = {indent + 2, std::move(item)}; // a mapping or list that begins in this line
        array.push_back(block(indent + 2, depth + 1));
      } else {
        ++next_;
        array.push_back(value(std::move(item), indent, depth));
      }
    }
    return array;
  }

  /// Parses the value that follows a key or a dash in a line of this indent.
  Json value(std::string text, std::size_t indent, int depth) {
    if (text.empty()) {
      if (deeper_than(indent))
        return block(lines_[next_].indent, depth + 1);
      return at(indent) && is_item(lines_[next_].text) ? list(indent, depth + 1) : Json();
    }
    if (text.front() == '|' || text.front() == '>')
      return continued({}, indent, text.front() == '|' ? '\n' : ' ');
    return value_of_scalar(continued(std::move(text), indent));
  }

  /// The text with the lines below it that are further in.
  std::string continued(std::string text, std::size_t indent, char between = ' ') {
    while (deeper_than(indent)) {
      if (!text.empty())
        text += between;
      text += lines_[next_++].text;
    }
    return text;
  }

  std::vector<Line> lines_;
  std::size_t next_ = 0;
};

} // namespace

Json parse_yaml(std::string_view text) {
  return YamlReader(text).read();
}

} // namespace batchscope::exchange::detail
