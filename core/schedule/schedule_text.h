#pragma once

#include <cstdint>
#include <initializer_list>
#include <optional>
#include <string>
#include <string_view>

#include "core/base/text.h"

namespace batchscope::schedule {

/// Reads the parameters of one schedule's text by name. Every function throws Error (input) quoting the text and naming
/// the key.
class ScheduleText {
public:
  explicit ScheduleText(const std::string& text);

  const std::string& name() const { return named_.name; }
  const std::string& text() const { return text_; }
  const NamedParameters& parameters() const { return named_; }

  /// Throws if there is any other key.
  void accept_only(std::initializer_list<std::string_view> keys) const;
  bool has(std::string_view key) const { return find(key) != nullptr; }
  /// An integer of at least `lowest`; the key is required.
  std::int64_t integer(std::string_view key, std::int64_t lowest) const;
  /// A number above 0; the key is required unless there is a default.
  double positive(std::string_view key, std::optional<double> otherwise = std::nullopt) const;
  /// Throws Error (input) with one line about this text.
  [[noreturn]] void refuse(const std::string& why) const;

private:
  const std::string* find(std::string_view key) const;
  const std::string& value(std::string_view key) const;
  std::string field(std::string_view key) const;

  std::string text_;
  NamedParameters named_;
};

} // namespace batchscope::schedule
