#pragma once

#include <stdexcept>
#include <string>

namespace batchscope {

/// The one exception type that leaves core. Foreign exceptions (LibTorch's, SQLite's, muParser's) are translated into
/// it where core calls them, so that no caller ever sees theirs. `what()` is one line for a person: what was wrong,
/// where, and what is accepted. A message that got too long to be read loses its middle; what a person gave is cut by
/// in_quotes() and shortened() of core/base/text.h before.
class Error : public std::runtime_error {
public:
  enum class Kind {
    input,       ///< bad usage or bad input; nothing was written (exit status 2)
    unavailable, ///< a device, library or file that was asked for is not there (exit status 2)
    failed,      ///< the job itself did not succeed (exit status 1)
  };

  Error(Kind kind, const std::string& message);

  Kind kind() const noexcept { return kind_; }

private:
  Kind kind_;
};

/// Shorthand for the most frequent kind.
inline Error input_error(const std::string& message) {
  return {Error::Kind::input, message};
}

} // namespace batchscope
