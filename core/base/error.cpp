#include "core/base/error.h"

namespace batchscope {

namespace {

constexpr std::size_t longest_message = 3000;
constexpr std::size_t kept_at_end = 800; // what is accepted is at the end

/// The nearest start of a UTF-8 character at or before `at`.
std::size_t character_before(const std::string& text, std::size_t at) {
  while (at > 0 && (static_cast<unsigned char>(text[at]) & 0xC0) == 0x80)
    --at;
  return at;
}

std::string bounded(const std::string& message) {
  if (message.size() <= longest_message)
    return message;
  const std::size_t head = character_before(message, longest_message - kept_at_end);
  const std::size_t tail = character_before(message, message.size() - kept_at_end);
  return message.substr(0, head) + " ... " + message.substr(tail);
}

} // namespace

Error::Error(Kind kind, const std::string& message, const char* field)
    : std::runtime_error(bounded(message)), kind_(kind), field_(field) {}

void Error::concerns(const char* field) noexcept {
  if (*field_ == '\0')
    field_ = field;
}

} // namespace batchscope
