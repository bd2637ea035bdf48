#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <utility>
#include <variant>

namespace batchscope::telemetry {

/// A value of a reason: a whole number, a real number or a text. Its name says its unit: `..._bytes`, `..._seconds`.
using Value = std::variant<std::int64_t, double, std::string>;

/// Why something is so, without words: a code of the table words.def and its values by name. A plain value.
struct Reason {
  std::string code{}; ///< empty: only `text` is known
  std::map<std::string, Value> args{};
  std::string text{}; ///< English, of whoever gave the reason; for codes that this version does not know

  bool empty() const { return code.empty() && text.empty(); }
  bool operator==(const Reason&) const = default;
};

/// A reason that is known only as a sentence of somebody else's, such as an exception's text.
inline Reason as_told(std::string text) {
  return {.text = std::move(text)};
}

} // namespace batchscope::telemetry
