#pragma once

#include <initializer_list>
#include <optional>
#include <string>
#include <vector>

#include "core/base/json_fields.h"
#include "core/telemetry/detail/legacy_events.h"
#include "core/telemetry/english.h"
#include "core/telemetry/reason.h"

// One function for each kind of event lists its fields; it is called with a Reading or a Writing.
namespace batchscope::telemetry {

/// Reads the fields of a detail. A field that is missing, null or of another type leaves its value as it is; one that
/// is required and has no value makes the whole not valid.
class Reading : public JsonReader {
public:
  /// `detail`: an object that lives longer.
  explicit Reading(const Json& detail) : JsonReader(detail) {}

  template <typename Value> void nullable(const char* name, std::optional<Value>& value) { (*this)(name, value); }
  template <typename Value> void required(const char* name, Value& value) {
    std::optional<Value> found;
    (*this)(name, found);
    if (found)
      value = *std::move(found);
    else
      valid_ = false;
  }
  /// A sentence, `name_code` and `name_args`; or, as programs send it, an object with the three.
  void reason(const char* name, Reason& value);
  void reason(const char* name, std::optional<Reason>& value);
  /// A field that is written for people and earlier versions only.
  template <typename Make> void derived(const char* name, const Make& /*make*/) { list(name); }

  bool was_read(const char* name) const { return was_listed(name); }
  const Json& detail() const { return whole(); }
  void require(bool condition) { valid_ = valid_ && condition; }
  bool valid() const { return valid_; }

private:
  bool valid_ = true;
};

/// Writes them, those without a value not at all, or as null.
class Writing : public JsonWriter {
public:
  Writing() = default;
  /// Appends the names of all fields, those without a value included, in their order.
  explicit Writing(std::vector<std::string>& names) : names_(&names) {}

  template <typename Value> void operator()(const char* name, const Value& value) {
    note(name);
    if constexpr (std::is_same_v<Value, bool>)
      JsonWriter::operator()(name, value);
    else
      sparse(name, value);
  }
  template <typename Value> void nullable(const char* name, const std::optional<Value>& value) {
    note(name);
    JsonWriter::operator()(name, value);
  }
  template <typename Value> void required(const char* name, const Value& value) {
    note(name);
    JsonWriter::operator()(name, value);
  }
  template <typename Value, typename Names> void named(const char* name, const Value& value, const Names& names) {
    note(name);
    JsonWriter::named(name, value, names);
  }
  void reason(const char* name, const Reason& value);
  void reason(const char* name, const std::optional<Reason>& value) { reason(name, value.value_or(Reason())); }
  void json(const char* name, const std::string& object_json) {
    note(name);
    JsonWriter::json(name, object_json);
  }
  template <typename Make> void derived(const char* name, const Make& make) {
    note(name);
    if (names_ != nullptr)
      return; // of a body without values there is nothing to say
    if (const std::string text = make(); !text.empty())
      out()[name] = text;
  }

private:
  void note(const char* name, std::initializer_list<const char*> endings = {""}) {
    if (names_ != nullptr)
      for (const char* ending : endings)
        names_->push_back(std::string(name) + ending);
  }

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
