#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace batchscope {

/// The words of a command, split as a POSIX shell does it: at blanks, tabs and line breaks, where neither quotes nor a
/// backslash keep them. Nothing is expanded, and there are no redirections, pipes or variables: outside of quotes their
/// characters (`| & ; < > $` and the backquote) are errors, because a shell would not pass them on. Throws Error
/// (input) naming `field`.
std::vector<std::string> shell_words(std::string_view text, std::string_view field);

/// The words as one line that shell_words() splits into the same words. Braces stay bare, so that `{batch}` can be
/// read.
std::string shell_line(const std::vector<std::string>& words);

} // namespace batchscope
