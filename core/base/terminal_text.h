#pragma once

#include <string>
#include <string_view>

namespace batchscope {

/// The text as a terminal may have it, whoever has written it: control characters other than line breaks and tabs, and
/// those that change the direction of writing, as `\u001b`, which JSON reads as the same character; bytes that are not
/// UTF-8 as U+FFFD.
std::string terminal_text(std::string_view text);

} // namespace batchscope
