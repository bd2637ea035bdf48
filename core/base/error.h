#pragma once

#include <stdexcept>
#include <string>

namespace batchscope {

/// The only exception type that core throws. Exceptions of LibTorch, SQLite and muParser are translated into it where
/// core calls them. `what()` is one line for the user: what was wrong, where, and what is accepted. Messages that are
/// too long are shortened in the middle; shorten values that the user gave with in_quotes() or shortened() of
/// core/base/text.h.
class Error : public std::runtime_error {
public:
  enum class Kind {
    input,       ///< bad usage or bad input; nothing was written (exit status 2)
    unavailable, ///< a requested device, library or file is missing (exit status 2)
    failed,      ///< the job itself failed (exit status 1)
    device_lost, ///< it failed, and so would every other job of this process on that GPU (exit status 1)
  };

  /// `field`: the key of the run's field that the error is about, a static string.
  Error(Kind kind, const std::string& message, const char* field = "");

  Kind kind() const noexcept { return kind_; }
  /// Key of the run's field that the error is about (run::spec_fields()); empty if it is about none.
  const char* field() const noexcept { return field_; }
  /// Sets field() unless it is set.
  void concerns(const char* field) noexcept;

private:
  Kind kind_;
  const char* field_;
};

/// Shorthand for the most common kind.
inline Error input_error(const std::string& message, const char* field = "") {
  return {Error::Kind::input, message, field};
}

/// Calls `function`; an Error that it throws is then about `field`, unless it is already about another.
template <typename Function> decltype(auto) about_field(const char* field, Function&& function) {
  try {
    return function();
  } catch (Error& error) {
    error.concerns(field);
    throw;
  }
}

} // namespace batchscope
