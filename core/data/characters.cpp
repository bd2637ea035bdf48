#include "core/data/characters.h"

#include <algorithm>
#include <unordered_map>

#include <fmt/format.h>

#include "core/base/error.h"
#include "core/base/utf8.h"

namespace batchscope::data {

namespace {

[[noreturn]] void refuse_byte(const std::string& text, std::size_t offset, const std::string& path) {
  throw input_error(fmt::format("{}: byte 0x{:02x} at offset {} is not valid UTF-8", path,
                                static_cast<unsigned char>(text[offset]), offset));
}

/// The character at an offset below the text's size.
Utf8Character character_at(const std::string& text, std::size_t offset, const std::string& path) {
  const auto character = first_character(std::string_view(text).substr(offset));
  if (!character)
    refuse_byte(text, offset, path);
  return *character;
}

} // namespace

void check_utf8(const std::string& text, const std::string& path) {
  for (std::size_t offset = 0; offset < text.size();)
    offset += character_at(text, offset, path).size;
}

Characters number_characters(const std::string& text, const std::string& path) {
  constexpr std::size_t max_distinct = 65'536;
  // Numbered by first appearance; sorted once all characters are known.
  std::unordered_map<char32_t, std::uint16_t> numbers;
  Characters result;
  result.tokens.reserve(text.size());
  for (std::size_t offset = 0; offset < text.size();) {
    const auto [code, size] = character_at(text, offset, path);
    offset += size;
    const auto found = numbers.find(code);
    if (found != numbers.end()) {
      result.tokens.push_back(found->second);
      continue;
    }
    if (numbers.size() == max_distinct)
      throw input_error(fmt::format("{}: more than {} distinct characters", path, max_distinct));
    const auto number = static_cast<std::uint16_t>(numbers.size());
    numbers.emplace(code, number);
    result.vocabulary.push_back(code);
    result.tokens.push_back(number);
  }

  std::vector<char32_t> sorted = result.vocabulary;
  std::sort(sorted.begin(), sorted.end());
  std::vector<std::uint16_t> final_number(sorted.size());
  for (std::size_t i = 0; i < sorted.size(); ++i)
    final_number[numbers.at(sorted[i])] = static_cast<std::uint16_t>(i);
  for (std::uint16_t& token : result.tokens)
    token = final_number[token];
  result.vocabulary = std::move(sorted);
  return result;
}

} // namespace batchscope::data
