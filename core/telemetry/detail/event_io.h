#pragma once

#include <array>
#include <cstdint>
#include <initializer_list>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "core/base/json.h"
#include "core/telemetry/detail/legacy_events.h"
#include "core/telemetry/english.h"
#include "core/telemetry/reason.h"

// One function for each kind of event lists its fields; it is called with a Reading or a Writing.
namespace batchscope::telemetry {

/// A value of an enumeration and its text in JSON.
template <typename Enum> struct Named {
  Enum value;
  const char* name;
};

/// The first of its names; empty for none.
template <typename Enum, std::size_t size> const char* name_of(Enum value, const std::array<Named<Enum>, size>& names) {
  for (const auto& known : names)
    if (known.value == value)
      return known.name;
  return "";
}

/// Reads the fields of a detail. A field that is missing, null or of another type leaves its value as it is; one that
/// is required and has no value makes the whole not valid.
class Reading {
public:
  template <typename Body> using Of = Body;
  static constexpr bool reads = true;

  /// `detail`: an object that lives longer.
  explicit Reading(const Json& detail) : detail_(detail) {}

  void operator()(const char* name, std::optional<std::int64_t>& value);
  void operator()(const char* name, std::optional<std::uint64_t>& value);
  void operator()(const char* name, std::optional<double>& value);
  void operator()(const char* name, std::optional<std::string>& value);
  void operator()(const char* name, std::string& value);
  void operator()(const char* name, bool& value);
  template <typename Value> void nullable(const char* name, std::optional<Value>& value) { (*this)(name, value); }
  template <typename Value> void required(const char* name, Value& value) {
    std::optional<Value> found;
    (*this)(name, found);
    if (found)
      value = *std::move(found);
    else
      valid_ = false;
  }
  /// A text that is not among the names is left to rest().
  template <typename Enum, std::size_t size>
  void named(const char* name, Enum& value, const std::array<Named<Enum>, size>& names) {
    if (const Enum* known = find(name, names))
      value = *known;
  }
  template <typename Enum, std::size_t size>
  void named(const char* name, std::optional<Enum>& value, const std::array<Named<Enum>, size>& names) {
    if (const Enum* known = find(name, names))
      value = *known;
  }
  /// A sentence, `name_code` and `name_args`; or, as programs send it, an object with the three.
  void reason(const char* name, Reason& value);
  void reason(const char* name, std::optional<Reason>& value);
  void json(const char* name, std::string& object_json);
  /// A field that is written for people and earlier versions only.
  template <typename Make> void derived(const char* name, const Make& /*make*/) { read_.insert(name); }

  bool has(const char* name) const { return detail_.contains(name); }
  bool was_read(const char* name) const { return read_.contains(name); }
  const Json& detail() const { return detail_; }
  void require(bool condition) { valid_ = valid_ && condition; }
  bool valid() const { return valid_; }
  /// The fields that were not read.
  Json rest() const;

private:
  const Json* take(const char* name, bool (*fits)(const Json&));
  template <typename Enum, std::size_t size>
  const Enum* find(const char* name, const std::array<Named<Enum>, size>& names) {
    const Json* text = take(name, [](const Json& each) { return each.is_null() || each.is_string(); });
    for (const auto& known : names)
      if (text && *known.name != '\0' && *text == known.name)
        return &known.value;
    if (text)
      read_.erase(name);
    return nullptr;
  }

  const Json& detail_;
  std::set<std::string> read_;
  bool valid_ = true;
};

/// Writes them, those without a value not at all, or as null.
class Writing {
public:
  template <typename Body> using Of = const Body;
  static constexpr bool reads = false;

  Writing() = default;
  /// Appends the names of all fields, those without a value included, in their order.
  explicit Writing(std::vector<std::string>& names) : names_(&names) {}

  template <typename Value> void operator()(const char* name, const std::optional<Value>& value) {
    note(name);
    if (value)
      set(name, *value);
  }
  void operator()(const char* name, const std::string& value) {
    note(name);
    if (!value.empty())
      json_[name] = value;
  }
  void operator()(const char* name, bool value) {
    note(name);
    json_[name] = value;
  }
  template <typename Value> void nullable(const char* name, const std::optional<Value>& value) {
    note(name);
    if (value)
      set(name, *value);
    else
      json_[name] = nullptr;
  }
  template <typename Value> void required(const char* name, const Value& value) {
    note(name);
    set(name, value);
  }
  /// The first name of the value; none for an empty one.
  template <typename Enum, std::size_t size>
  void named(const char* name, Enum value, const std::array<Named<Enum>, size>& names) {
    note(name);
    if (const char* text = name_of(value, names); *text != '\0')
      json_[name] = text;
  }
  template <typename Enum, std::size_t size>
  void named(const char* name, const std::optional<Enum>& value, const std::array<Named<Enum>, size>& names) {
    if (value)
      named(name, *value, names);
    else
      note(name);
  }
  void reason(const char* name, const Reason& value);
  void reason(const char* name, const std::optional<Reason>& value) { reason(name, value.value_or(Reason())); }
  void json(const char* name, const std::string& object_json);
  template <typename Make> void derived(const char* name, const Make& make) {
    note(name);
    if (names_ != nullptr)
      return; // of a body without values there is nothing to say
    if (const std::string text = make(); !text.empty())
      json_[name] = text;
  }

  /// Whatever else a kind has.
  Json& out() { return json_; }

private:
  void note(const char* name, std::initializer_list<const char*> endings = {""}) {
    if (names_ != nullptr)
      for (const char* ending : endings)
        names_->push_back(std::string(name) + ending);
  }
  template <typename Value> void set(const char* name, const Value& value) { json_[name] = value; }
  void set(const char* name, double value) { json_[name] = json_number(value); }

  Json json_ = Json::object();
  std::vector<std::string>* names_ = nullptr;
};

/// The whole sentence about an event, which earlier versions show.
template <typename Body> std::string sentence_about(const Body& event) {
  return english(Event{.body = event});
}

/// A text of a program's own, in whose place there is a sentence of ours.
template <typename Io, typename Body> void text_field(Io& io, Body& event) {
  if constexpr (Io::reads) {
    io("text", event.text);
    complete_earlier(io.detail(), event);
  } else {
    io.derived("text", [&] { return event.text.empty() ? sentence_about(event) : event.text; });
  }
}

} // namespace batchscope::telemetry
