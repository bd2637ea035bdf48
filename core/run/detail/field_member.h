#pragma once

#include <memory>
#include <optional>
#include <string>
#include <type_traits>
#include <utility>

#include "core/base/json.h"
#include "core/run/spec_fields.h"

namespace batchscope::run {

/// One member of a RunSpec, behind the same functions for every type. `field` is the table's row that the member is in.
class FieldMember {
public:
  virtual ~FieldMember() = default;

  virtual SpecField::Kind kind() const = 0;
  /// As set_text() accepts it; empty if unset.
  virtual std::string text(const RunSpec& spec) const = 0;
  /// Throws Error (input) naming the option. `text` is not empty.
  virtual void set_text(RunSpec& spec, const std::string& text, const SpecField& field) const = 0;
  virtual Json json(const RunSpec& spec) const = 0;
  /// Throws Error (input) naming the JSON field.
  virtual void set_json(RunSpec& spec, const Json& json, const SpecField& field) const = 0;
  /// The value, to be compared with the field's bounds; nothing if it is unset or no number.
  virtual std::optional<double> number(const RunSpec& spec) const = 0;
  virtual void set_default(RunSpec& spec) const = 0;
  /// Makes the field unset, or its default if it is always set.
  virtual void unset(RunSpec& spec) const = 0;
};

/// FieldMember of a member of the spec or of its length, the `Owner`: a Form::Value or an optional one. `Form` has the
/// kind, text and JSON of such a value; see field_forms.h.
template <typename Form, typename Owner, typename Given> class MemberOf : public FieldMember {
  using Value = typename Form::Value;
  static constexpr bool is_optional = !std::is_same_v<Given, Value>;

public:
  explicit MemberOf(Given Owner::*member) : member_(member) {}

  SpecField::Kind kind() const override { return Form::kind; }
  std::string text(const RunSpec& spec) const override {
    const Value* value = known_value(spec);
    return value ? Form::text(*value) : std::string();
  }
  void set_text(RunSpec& spec, const std::string& text, const SpecField& field) const override {
    value_in(spec) = Form::from_text(text, field);
  }
  Json json(const RunSpec& spec) const override {
    const Value* value = known_value(spec);
    return value ? Form::json(*value) : Json(nullptr);
  }
  void set_json(RunSpec& spec, const Json& json, const SpecField& field) const override {
    if (is_optional && json.is_null())
      unset(spec);
    else
      value_in(spec) = Form::from_json(json, field);
  }
  std::optional<double> number(const RunSpec& spec) const override {
    if constexpr (std::is_arithmetic_v<Value> && !std::is_same_v<Value, bool>)
      if (const Value* value = known_value(spec))
        return static_cast<double>(*value);
    return std::nullopt;
  }
  void set_default(RunSpec& spec) const override {
    const RunSpec standard;
    value_in(spec) = value_in(standard);
  }
  void unset(RunSpec& spec) const override {
    if constexpr (is_optional)
      value_in(spec).reset();
    else
      set_default(spec);
  }

protected:
  /// Of a spec that is const or not.
  auto& value_in(auto& spec) const {
    if constexpr (std::is_same_v<Owner, RunSpec>)
      return spec.*member_;
    else
      return spec.length.*member_;
  }

private:
  const Value* known_value(const RunSpec& spec) const {
    if constexpr (is_optional)
      return value_in(spec) ? &*value_in(spec) : nullptr;
    else
      return &value_in(spec);
  }

  Given Owner::*member_;
};

} // namespace batchscope::run
