#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "core/telemetry/reason.h"

// Sentences without words: the id of a pattern of the table words.def and typed arguments by name. Words are made where
// they are shown: core/telemetry/english.h in the terminal, ui/texts/message_text.h in the window.
namespace batchscope::telemetry {

/// Ids of all patterns. Their texts are stable: files and scripts may have them.
enum class Words : std::uint16_t {
#define WORDS(id, text) id,
#define REASON(id, text) id,
#include "core/telemetry/words.def"
#undef WORDS
#undef REASON
};

/// `out-of-memory`; of a reason it is its code.
const std::string& id_of(Words words);
/// The English pattern. `{name}` stands for an argument; a part in `[]` is left out if an argument in it is missing;
/// `{{` and `}}` are braces.
const char* english_pattern(Words words);
/// A reason of the table.
inline Reason because(Words reason, std::map<std::string, Value> args = {}) {
  return {.code = id_of(reason), .args = std::move(args)};
}
/// The words of a reason's code; nothing if it is not known.
std::optional<Words> words_of_code(std::string_view code);

struct Message;

// Arguments by what they are, which decides how they are shown.
struct Count {
  std::int64_t value = 0; ///< 12,345
  bool operator==(const Count&) const = default;
};
struct Plain {
  std::int64_t value = 0; ///< 12345: a number that names something
  bool operator==(const Plain&) const = default;
};
struct Bytes {
  std::uint64_t value = 0;
  bool operator==(const Bytes&) const = default;
};
struct Seconds {
  double value = 0;
  bool operator==(const Seconds&) const = default;
};
struct Share {
  double value = 0; ///< 0..1, shown in percent
  bool operator==(const Share&) const = default;
};
struct Number {
  double value = 0;
  bool operator==(const Number&) const = default;
};
/// A batch as it is run: 272, or 2 x 136.
struct Parts {
  std::int64_t parts = 1, size = 0;
  bool operator==(const Parts&) const = default;
};
/// Not made of words: an exception, a name, a schedule. Shown in one line, and shortened if it is long.
struct Text {
  std::string value;
  bool operator==(const Text&) const = default;
};

/// A list of messages is shown as one, separated by commas; one message as a part of the sentence.
using Argument = std::variant<Count, Plain, Bytes, Seconds, Share, Number, Parts, Text, std::vector<Message>>;

struct Message {
  Words words;
  std::vector<std::pair<std::string, Argument>> arguments{};

  const Argument* find(std::string_view name) const; ///< null for none
  bool operator==(const Message&) const;
};

/// A reason as a message: that of its code, or the text that it was given.
Message message_of(const Reason& reason);

/// The pattern with its arguments, each as `shown` gives it.
std::string filled(std::string_view pattern, const Message& message,
                   const std::function<std::string(const Argument&)>& shown);

} // namespace batchscope::telemetry
