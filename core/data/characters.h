#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace batchscope::data {

/// A text encoded as indices into a vocabulary of its distinct characters.
struct Characters {
  std::vector<std::uint16_t> tokens; ///< one per character of the text
  std::vector<char32_t> vocabulary;  ///< distinct code points, ascending; a token is an index into it
};

/// Throws Error (input) naming `path` and the offset of the first byte that is not valid UTF-8.
void check_utf8(const std::string& text, const std::string& path);

/// Decodes UTF-8 and builds the vocabulary. Throws as check_utf8() does, and for more than 65,536 distinct characters.
Characters number_characters(const std::string& text, const std::string& path);

} // namespace batchscope::data
