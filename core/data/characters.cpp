#include "core/data/characters.h"

#include <algorithm>
#include <unordered_map>

#include <fmt/format.h>

#include "core/base/error.h"

namespace batchscope::data {

namespace {

/// Number of bytes of the character that begins with this byte; 0 if none does.
std::size_t bytes_of(unsigned char first) {
  if (first < 0x80)
    return 1;
  if (first >= 0xC2 && first < 0xE0)
    return 2;
  if (first >= 0xE0 && first < 0xF0)
    return 3;
  return first >= 0xF0 && first < 0xF5 ? 4 : 0;
}

/// The code point of `size` bytes at `offset`; if it is invalid, `size` becomes 0.
char32_t decode(const std::string& text, std::size_t offset, std::size_t& size) {
  const auto first = static_cast<unsigned char>(text[offset]);
  size = bytes_of(first);
  if (size == 1)
    return first;
  if (size == 0 || size > text.size() - offset) {
    size = 0;
    return 0;
  }
  char32_t code = first & (0x7FU >> size);
  for (std::size_t i = 1; i < size; ++i) {
    const auto next = static_cast<unsigned char>(text[offset + i]);
    if ((next & 0xC0U) != 0x80U) {
      size = 0;
      return 0;
    }
    code = code << 6 | (next & 0x3FU);
  }
  const bool overlong = (size == 3 && code < 0x800) || (size == 4 && code < 0x10000);
  if (overlong || (code >= 0xD800 && code < 0xE000) || code > 0x10FFFF)
    size = 0;
  return code;
}

[[noreturn]] void refuse_byte(const std::string& text, std::size_t offset, const std::string& path) {
  throw input_error(fmt::format("{}: byte 0x{:02x} at offset {} is not valid UTF-8", path,
                                static_cast<unsigned char>(text[offset]), offset));
}

} // namespace

void check_utf8(const std::string& text, const std::string& path) {
  for (std::size_t offset = 0, size = 0; offset < text.size(); offset += size) {
    decode(text, offset, size);
    if (size == 0)
      refuse_byte(text, offset, path);
  }
}

Characters number_characters(const std::string& text, const std::string& path) {
  constexpr std::size_t max_distinct = 65'536;
  // Numbered by first appearance; sorted once all characters are known.
  std::unordered_map<char32_t, std::uint16_t> numbers;
  Characters result;
  result.tokens.reserve(text.size());
  for (std::size_t offset = 0, size = 0; offset < text.size(); offset += size) {
    const char32_t code = decode(text, offset, size);
    if (size == 0)
      refuse_byte(text, offset, path);
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
