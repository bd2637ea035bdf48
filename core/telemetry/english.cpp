#include "core/telemetry/english.h"

#include <cmath>

#include <fmt/format.h>

#include "core/base/text.h"
#include "core/telemetry/describe.h"

namespace batchscope::telemetry {

namespace {

std::string joined(const std::vector<Message>& messages, const char* separator) {
  std::string text;
  for (const Message& message : messages)
    text += (text.empty() ? "" : separator) + english(message);
  return text;
}

struct Shown {
  static constexpr std::size_t longest_text = 500; ///< a whole message of Error, with a path

  std::string operator()(const Count& count) const { return format_count(count.value); }
  std::string operator()(const Plain& number) const { return fmt::to_string(number.value); }
  std::string operator()(const Bytes& bytes) const { return format_bytes(bytes.value); }
  std::string operator()(const Seconds& seconds) const { return format_duration(seconds.value); }
  std::string operator()(const Share& share) const {
    return std::isfinite(share.value) ? fmt::format("{:.2f} %", share.value * 100) : "-";
  }
  std::string operator()(const Number& number) const { return fmt::format("{:.4g}", number.value); }
  std::string operator()(const Parts& batch) const {
    return batch.parts == 1 ? format_count(batch.size)
                            : fmt::format("{} x {}", format_count(batch.parts), format_count(batch.size));
  }
  std::string operator()(const Text& text) const { return shortened(one_line(text.value), longest_text); }
  std::string operator()(const std::vector<Message>& messages) const { return joined(messages, ", "); }
};

} // namespace

std::string english(const Message& message) {
  return filled(english_pattern(message.words), message,
                [](const Argument& argument) { return std::visit(Shown(), argument); });
}

std::string english(const Reason& reason) {
  return english(message_of(reason));
}

std::string english(const Event& event) {
  return joined(describe(event).sentence, "; ");
}

} // namespace batchscope::telemetry
