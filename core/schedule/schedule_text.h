#pragma once

#include <cstdint>
#include <initializer_list>
#include <optional>
#include <string>
#include <string_view>

#include "core/base/text.h"

namespace batchscope::schedule {

/// The parameters of one schedule's text, read by name; for the makers of schedules only.
/// Every function throws Error (input) that quotes the text and names the key.
class ScheduleText {
public:
  explicit ScheduleText(const std::string& text);

  const std::string& name() const { return named_.name; }
  const std::string& text() const { return text_; }
  const NamedParameters& parameters() const { return named_; }

  /// Refuses keys that are not among these.
  void accept_only(std::initializer_list<std::string_view> keys) const;
  bool has(std::string_view key) const { return find(key) != nullptr; }
  /// A whole number from `lowest` up; the key must be there.
  std::int64_t integer(std::string_view key, std::int64_t lowest) const;
  /// A number above 0; without a default the key must be there.
  double positive(std::string_view key, std::optional<double> otherwise = std::nullopt) const;
  /// One line about this text.
  [[noreturn]] void refuse(const std::string& why) const;

private:
  const std::string* find(std::string_view key) const;
  const std::string& value(std::string_view key) const;
  std::string field(std::string_view key) const;

  std::string text_;
  NamedParameters named_;
};

} // namespace batchscope::schedule
