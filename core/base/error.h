#pragma once

#include <stdexcept>
#include <string>

namespace batchscope {

/// The only exception type that core throws. Exceptions of LibTorch, SQLite and muParser are translated into it where
/// core calls them. `what()` is one line for the user: what was wrong, where, and what is accepted. A message that is
/// too long to read loses its middle; shorten values that the user gave with in_quotes() or shortened() of
/// core/base/text.h.
class Error : public std::runtime_error {
public:
  enum class Kind {
    input,       ///< bad usage or bad input; nothing was written (exit status 2)
    unavailable, ///< a requested device, library or file is missing (exit status 2)
    failed,      ///< the job itself failed (exit status 1)
  };

  Error(Kind kind, const std::string& message);

  Kind kind() const noexcept { return kind_; }

private:
  Kind kind_;
};

/// Shorthand for the most common kind.
inline Error input_error(const std::string& message) {
  return {Error::Kind::input, message};
}

} // namespace batchscope
