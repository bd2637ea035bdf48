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

/// FieldMember of the member that `Access` returns a reference to, a Form::Value or an optional one. `Form` has the
/// kind, text and JSON of such a value; see field_forms.h.
template <typename Access, typename Form> class MemberOf : public FieldMember {
  using Value = typename Form::Value;
  using Given = std::decay_t<std::invoke_result_t<Access, RunSpec&>>;
  static constexpr bool is_optional = !std::is_same_v<Given, Value>;

public:
  explicit MemberOf(Access access) : access_(access) {}

  SpecField::Kind kind() const override { return Form::kind; }
  std::string text(const RunSpec& spec) const override {
    const Value* value = value_of(spec);
    return value ? Form::text(*value) : std::string();
  }
  void set_text(RunSpec& spec, const std::string& text, const SpecField& field) const override {
    access_(spec) = Form::from_text(text, field);
  }
  Json json(const RunSpec& spec) const override {
    const Value* value = value_of(spec);
    return value ? Form::json(*value) : Json(nullptr);
  }
  void set_json(RunSpec& spec, const Json& json, const SpecField& field) const override {
    if (is_optional && json.is_null())
      unset(spec);
    else
      access_(spec) = Form::from_json(json, field);
  }
  std::optional<double> number(const RunSpec& spec) const override {
    if constexpr (std::is_arithmetic_v<Value> && !std::is_same_v<Value, bool>)
      if (const Value* value = value_of(spec))
        return static_cast<double>(*value);
    return std::nullopt;
  }
  void set_default(RunSpec& spec) const override { access_(spec) = access_(standard()); }
  void unset(RunSpec& spec) const override {
    if constexpr (is_optional)
      access_(spec).reset();
    else
      set_default(spec);
  }

private:
  static const RunSpec& standard() {
    static const RunSpec spec;
    return spec;
  }
  const Value* value_of(const RunSpec& spec) const {
    const Given& given = access_(spec);
    if constexpr (is_optional)
      return given ? &*given : nullptr;
    else
      return &given;
  }

  Access access_;
};

} // namespace batchscope::run
