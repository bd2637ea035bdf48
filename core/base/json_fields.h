#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "core/base/json.h"

// Types as JSON objects, both directions by one declaration. A function beside the type lists its fields, and is called
// with a JsonReader or a JsonWriter:
//
//   template <typename Io> void fields(Io& io, typename Io::template Of<Timing>& timing) {
//     io("batch", timing.batch);
//     io("seconds", timing.seconds);
//   }
//
// Fields may be truth values, numbers, texts, types with fields of their own, and optionals, vectors, arrays and (by
// name) maps of them. Numbers that are not finite are written as json_number() does. One thread.
namespace batchscope {

/// A value of an enumeration and its text in JSON.
template <typename Enum> struct Named {
  Enum value;
  const char* name;
};

/// The text of a value; empty for one that has none.
template <typename Enum, typename Names> const char* name_of(Enum value, const Names& names) {
  for (const auto& known : names)
    if (known.value == value)
      return known.name;
  return "";
}

/// Writes an object with the fields in the order in which they are listed.
class JsonWriter {
public:
  template <typename T> using Of = const T;
  static constexpr bool reads = false;

  /// An optional without a value is null.
  template <typename Value> void operator()(const char* name, const Value& value) { json_[name] = json_of(value); }
  /// A field that is left out where it is an empty optional, text or list, `false` or 0.
  template <typename Value> void sparse(const char* name, const Value& value) {
    bool is_default = false;
    if constexpr (requires { value.empty(); })
      is_default = value.empty();
    else if constexpr (requires { value.has_value(); })
      is_default = !value.has_value();
    else
      is_default = value == Value();
    if (!is_default)
      (*this)(name, value);
  }
  template <typename Value> void required(const char* name, const Value& value) { (*this)(name, value); }
  /// A value without a name, or an optional without a value, is left out.
  template <typename Enum, typename Names> void named(const char* name, Enum value, const Names& names) {
    if (const char* text = name_of(value, names); *text != '\0')
      json_[name] = text;
  }
  template <typename Enum, typename Names>
  void named(const char* name, const std::optional<Enum>& value, const Names& names) {
    if (value)
      named(name, *value, names);
  }
  /// A field of which only the inner form is JSON: `object_json` is the text of an object.
  void json(const char* name, const std::string& object_json);
  /// Members of a value, or of all values of a list, as lists in this order.
  template <typename Type, typename... Members>
  void row(const char* name, const Type& value, Members Type::*... members) {
    json_[name] = Json::array({json_of(value.*members)...});
  }
  template <typename Type, typename... Members>
  void rows(const char* name, const std::vector<Type>& values, Members Type::*... members) {
    Json& list = json_[name] = Json::array();
    for (const Type& value : values)
      list.push_back(Json::array({json_of(value.*members)...}));
  }

  /// A list of names and values as an object, in this order.
  template <typename Type, typename Value>
  void object(const char* name, const std::vector<Type>& entries, std::string Type::*key, Value Type::*value) {
    Json& object = json_[name] = Json::object();
    for (const Type& entry : entries)
      object[entry.*key] = json_of(entry.*value);
  }

  Json& out() { return json_; }

  template <typename Value> static Json json_of(const Value& value) {
    if constexpr (requires(JsonWriter & io) { fields(io, value); }) {
      JsonWriter writer;
      fields(writer, value);
      return std::move(writer.json_);
    } else if constexpr (std::is_floating_point_v<Value>) {
      return json_number(value);
    } else {
      return value;
    }
  }
  template <typename Value> static Json json_of(const std::optional<Value>& value) {
    return value ? json_of(*value) : Json(nullptr);
  }
  template <typename Value> static Json json_of(const std::vector<Value>& values) {
    Json list = Json::array();
    for (const Value& value : values)
      list.push_back(json_of(value));
    return list;
  }
  template <typename Value, std::size_t size> static Json json_of(const std::array<Value, size>& values) {
    Json list = Json::array();
    for (const Value& value : values)
      list.push_back(json_of(value));
    return list;
  }
  template <typename Value> static Json json_of(const std::map<std::string, Value>& values) {
    Json object = Json::object();
    for (const auto& [name, value] : values)
      object[name] = json_of(value);
    return object;
  }

private:
  Json json_ = Json::object();
};

/// Reads the listed fields of an object. One that is missing or null leaves its target as it is.
class JsonReader {
public:
  /// What becomes of a field whose value has another type: its target stays as it is, or Error (input) names the field
  /// by its path, its value and what is accepted.
  enum class Mistyped { stays, refused };

  template <typename T> using Of = T;
  static constexpr bool reads = true;

  /// `object` lives longer; it has no fields if it is no object. `path`: in front of the names in errors.
  explicit JsonReader(const Json& object, Mistyped mistyped = Mistyped::stays, std::string path = {})
      : object_(object), mistyped_(mistyped), path_(std::move(path)) {}
  explicit JsonReader(Json&& object, Mistyped mistyped = Mistyped::stays, std::string path = {}) = delete;

  template <typename Value> void operator()(const char* name, Value& value) {
    if (const Json* found = find(name); found && !read(*found, name, value))
      listed_.erase(name);
  }
  template <typename Value> void sparse(const char* name, Value& value) { (*this)(name, value); }
  /// Throws Error (input) if it is missing or null, whatever becomes of mistyped fields.
  template <typename Value> void required(const char* name, Value& value) {
    const Json* found = find(name);
    if (!found)
      throw_missing(name);
    read(*found, name, value);
  }
  /// A text that is no name counts as mistyped.
  template <typename Enum, typename Names> void named(const char* name, Enum& value, const Names& names) {
    if (const Enum* known = find_named<Enum>(name, names))
      value = *known;
  }
  template <typename Enum, typename Names>
  void named(const char* name, std::optional<Enum>& value, const Names& names) {
    if (const Enum* known = find_named<Enum>(name, names))
      value = *known;
  }
  void json(const char* name, std::string& object_json);
  template <typename Type, typename... Members> void row(const char* name, Type& value, Members Type::*... members) {
    if (const Json* found = find(name))
      read_row(*found, name, value, members...);
  }
  template <typename Type, typename... Members>
  void rows(const char* name, std::vector<Type>& values, Members Type::*... members) {
    const Json* found = find_list(name);
    if (!found)
      return;
    values.clear();
    for (const Json& row : *found)
      if (Type value{}; read_row(row, name, value, members...))
        values.push_back(value);
  }

  template <typename Type, typename Value>
  void object(const char* name, std::vector<Type>& entries, std::string Type::*key, Value Type::*value) {
    const Json* found = find_object(name);
    if (!found)
      return;
    entries.clear();
    for (const auto& [entry_key, json] : found->items())
      if (Type entry{}; read(json, std::string(name) + "." + entry_key, entry.*value)) {
        entry.*key = entry_key;
        entries.push_back(std::move(entry));
      }
  }

  /// The value of a field, which counts as listed; null for one that is missing or null.
  const Json* find(const char* name);
  /// The same for a list, or an object; others are mistyped.
  const Json* find_list(const char* name) { return find_if(name, &Json::is_array, "a list"); }
  const Json* find_object(const char* name) { return find_if(name, &Json::is_object, "an object"); }
  bool has(const char* name) const { return object_.contains(name); }
  /// The fields that were not listed, or that are mistyped.
  Json rest() const;
  const Json& whole() const { return object_; }

protected:
  bool was_listed(const char* name) const { return listed_.contains(name); }
  void list(const std::string& name) { listed_.insert(name); }

private:
  template <typename Enum, typename Names> const Enum* find_named(const char* name, const Names& names) {
    const Json* found = find(name);
    std::string accepted;
    for (const auto& known : names) {
      if (!found || *known.name == '\0')
        continue;
      if (*found == known.name)
        return &known.value;
      accepted += (accepted.empty() ? "" : ", ") + std::string(known.name);
    }
    if (found) {
      mistyped(name, *found, accepted);
      listed_.erase(name);
    }
    return nullptr;
  }
  const Json* find_if(const char* name, bool (Json::*fits)() const, const char* accepted);
  void mistyped(const std::string& name, const Json& value, const std::string& accepted) const;
  [[noreturn]] void throw_missing(const char* name) const;
  std::string path_of(const std::string& name) const { return path_.empty() ? name : path_ + "." + name; }

  // Each returns false for a mistyped value, whose target stays as it is.
  bool read(const Json& json, const std::string& name, bool& value) const;
  bool read(const Json& json, const std::string& name, double& value) const;
  bool read(const Json& json, const std::string& name, std::string& value) const;
  bool read(const Json& json, const std::string& name, std::int64_t& value) const;
  bool read(const Json& json, const std::string& name, std::uint64_t& value) const;
  bool read(const Json& json, const std::string& name, int& value) const;
  template <typename Value> bool read(const Json& json, const std::string& name, std::optional<Value>& target) const {
    Value value{};
    const bool fits = read(json, name, value);
    if (fits)
      target = std::move(value);
    return fits;
  }
  /// Entries that are mistyped are left out.
  template <typename Value> bool read(const Json& json, const std::string& name, std::vector<Value>& values) const {
    if (!json.is_array()) {
      mistyped(name, json, "a list");
      return false;
    }
    values.clear();
    for (const Json& entry : json)
      if (Value value{}; read(entry, name, value))
        values.push_back(std::move(value));
    return true;
  }
  template <typename Value, std::size_t size>
  bool read(const Json& json, const std::string& name, std::array<Value, size>& values) const {
    if (!json.is_array() || json.size() != size) {
      mistyped(name, json, "a list of " + std::to_string(size) + " values");
      return false;
    }
    std::size_t place = 0;
    bool fits = true;
    for (Value& value : values)
      fits = read(json[place++], name, value) && fits;
    return fits;
  }
  template <typename Value>
  bool read(const Json& json, const std::string& name, std::map<std::string, Value>& values) const {
    if (!json.is_object()) {
      mistyped(name, json, "an object");
      return false;
    }
    values.clear();
    for (const auto& [key, entry] : json.items())
      if (Value value{}; read(entry, name + "." + key, value))
        values[key] = std::move(value);
    return true;
  }
  template <typename Value>
  requires requires(JsonReader& io, Value& value) { fields(io, value); }
  bool read(const Json& json, const std::string& name, Value& value) const {
    if (!json.is_object()) {
      mistyped(name, json, "an object");
      return false;
    }
    JsonReader reader(json, mistyped_, path_of(name));
    fields(reader, value);
    return true;
  }
  template <typename Type, typename... Members>
  bool read_row(const Json& json, const char* name, Type& value, Members Type::*... members) const {
    if (!json.is_array() || json.size() != sizeof...(members)) {
      mistyped(name, json, "a list of " + std::to_string(sizeof...(members)) + " values");
      return false;
    }
    std::size_t place = 0;
    return (read(json[place++], name, value.*members) && ...);
  }

  const Json& object_;
  Mistyped mistyped_;
  std::string path_;
  std::set<std::string, std::less<>> listed_;
};

/// A value with fields, as an object.
template <typename Value> Json json_of_fields(const Value& value) {
  return JsonWriter::json_of(value);
}

/// The inverse: whatever is missing has its default.
template <typename Value>
Value value_of_fields(const Json& object, JsonReader::Mistyped mistyped, const std::string& path = {}) {
  Value value{};
  JsonReader reader(object, mistyped, path);
  fields(reader, value);
  return value;
}

} // namespace batchscope
