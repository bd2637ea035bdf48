#include "core/base/shell_words.h"

#include <algorithm>

#include <fmt/format.h>

#include "core/base/error.h"
#include "core/base/text.h"

namespace batchscope {

namespace {

constexpr std::string_view word_gaps = " \t\r\n";
constexpr std::string_view shell_operators = "|&;<>$`";

/// Splits one line; `at` is the place that is read next.
class WordReader {
public:
  WordReader(std::string_view text, std::string_view field) : text_(text), field_(field) {}

  std::vector<std::string> words() {
    while (at_ < text_.size())
      take(text_[at_++]);
    finish_word();
    return std::move(words_);
  }

private:
  void take(char c) {
    if (word_gaps.find(c) != std::string_view::npos)
      return finish_word();
    if (c == '\\')
      return take_escaped();
    if (shell_operators.find(c) != std::string_view::npos)
      throw input_error(fmt::format("{}: {} is not accepted here, because the command runs without a shell; put it in "
                                    "single quotes, or use sh -c '...'",
                                    field_, in_quotes(std::string_view(&c, 1))));
    inside_ = true;
    if (c == '\'' || c == '"')
      return take_quoted(c);
    word_ += c;
  }

  void take_escaped() {
    if (at_ == text_.size())
      throw input_error(fmt::format("{}: nothing follows the \\ at the end", field_));
    const char c = text_[at_++];
    if (c == '\n')
      return; // a line that goes on in the next one
    inside_ = true;
    word_ += c;
  }

  void take_quoted(char quote) {
    constexpr std::string_view escaped_in_double_quotes = "\\\"$`";
    for (; at_ < text_.size(); ++at_) {
      char c = text_[at_];
      if (c == quote) {
        ++at_;
        return;
      }
      if (quote == '"' && c == '\\' && at_ + 1 < text_.size() &&
          escaped_in_double_quotes.find(text_[at_ + 1]) != std::string_view::npos)
        c = text_[++at_];
      word_ += c;
    }
    throw input_error(fmt::format("{}: a {} has no closing {}", field_, quote, quote));
  }

  void finish_word() {
    if (inside_)
      words_.push_back(word_);
    word_.clear();
    inside_ = false;
  }

  const std::string_view text_;
  const std::string_view field_;
  std::size_t at_ = 0;
  bool inside_ = false; ///< a word has begun, though it may be empty so far
  std::string word_;
  std::vector<std::string> words_;
};

} // namespace

std::vector<std::string> shell_words(std::string_view text, std::string_view field) {
  return WordReader(text, field).words();
}

std::string shell_line(const std::vector<std::string>& words) {
  std::string line;
  for (const std::string& word : words) {
    std::string without_braces = word;
    std::erase_if(without_braces, [](char c) { return c == '{' || c == '}'; });
    const bool bare = !word.empty() && (without_braces.empty() || shell_quoted(without_braces) == without_braces);
    line += (line.empty() ? "" : " ") + (bare ? word : shell_quoted(word));
  }
  return line;
}

} // namespace batchscope
