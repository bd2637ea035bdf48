#pragma once

#include <cstdint>
#include <string>

#include "core/base/json.h"
#include "core/run/run_spec.h"
#include "core/run/spec_fields.h"

namespace batchscope::run {

// Text and JSON of the values that a run's field can have. from_text() and from_json() throw Error (input) naming the
// option or the JSON field.

struct TextForm {
  using Value = std::string;
  static constexpr auto kind = SpecField::Kind::text;
  static std::string text(const std::string& value) { return value; }
  static std::string from_text(const std::string& text, const SpecField& /*field*/) { return text; }
  static Json json(const std::string& value) { return value; }
  static std::string from_json(const Json& json, const SpecField& field);
};

/// Text without line breaks and control characters.
struct LineForm : TextForm {
  static std::string from_text(const std::string& text, const SpecField& field);
  static std::string from_json(const Json& json, const SpecField& field);
};

/// A number of steps or a word; in JSON also a number.
struct StepsForm : TextForm {
  static std::string from_json(const Json& json, const SpecField& field);
};

/// One of the field's choices.
struct ChoiceForm : TextForm {
  static constexpr auto kind = SpecField::Kind::choice;
};

struct OnOomForm {
  using Value = OnOom;
  static constexpr auto kind = SpecField::Kind::choice;
  static std::string text(OnOom value) { return to_string(value); }
  static OnOom from_text(const std::string& text, const SpecField& field);
  static Json json(OnOom value) { return to_string(value); }
  static OnOom from_json(const Json& json, const SpecField& field);
};

struct BatchForm {
  using Value = BatchChoice;
  static constexpr auto kind = SpecField::Kind::text;
  static std::string text(const BatchChoice& value) { return to_string(value); }
  static BatchChoice from_text(const std::string& text, const SpecField& field);
  static Json json(const BatchChoice& value);
  static BatchChoice from_json(const Json& json, const SpecField& field);
};

/// In JSON a number of steps, or a text such as `10%`.
struct EvaluationForm {
  using Value = EvaluationInterval;
  static constexpr auto kind = SpecField::Kind::text;
  static std::string text(const EvaluationInterval& value) { return to_string(value); }
  static EvaluationInterval from_text(const std::string& text, const SpecField& field);
  static Json json(const EvaluationInterval& value);
  static EvaluationInterval from_json(const Json& json, const SpecField& field);
};

struct IntegerForm {
  using Value = std::int64_t;
  static constexpr auto kind = SpecField::Kind::integer;
  static std::string text(std::int64_t value) { return std::to_string(value); }
  static std::int64_t from_text(const std::string& text, const SpecField& field);
  static Json json(std::int64_t value) { return value; }
  static std::int64_t from_json(const Json& json, const SpecField& field);
};

struct SeedForm {
  using Value = std::uint64_t;
  static constexpr auto kind = SpecField::Kind::integer;
  static std::string text(std::uint64_t value) { return std::to_string(value); }
  static std::uint64_t from_text(const std::string& text, const SpecField& field);
  static Json json(std::uint64_t value) { return value; }
  static std::uint64_t from_json(const Json& json, const SpecField& field);
};

/// Bytes: `400MB` as text; in JSON a number, or such a text.
struct SizeForm : SeedForm {
  static constexpr auto kind = SpecField::Kind::bytes;
  /// Exact, in the largest unit that gives an integer.
  static std::string text(std::uint64_t bytes);
  static std::uint64_t from_text(const std::string& text, const SpecField& field);
  static std::uint64_t from_json(const Json& json, const SpecField& field);
};

struct RealForm {
  using Value = double;
  static constexpr auto kind = SpecField::Kind::real;
  static std::string text(double value);
  static double from_text(const std::string& text, const SpecField& field);
  static Json json(double value) { return json_number(value); }
  static double from_json(const Json& json, const SpecField& field);
};

struct FlagForm {
  using Value = bool;
  static constexpr auto kind = SpecField::Kind::flag;
  static std::string text(bool value) { return value ? "true" : "false"; }
  static bool from_text(const std::string& text, const SpecField& field);
  static Json json(bool value) { return value; }
  static bool from_json(const Json& json, const SpecField& field);
};

} // namespace batchscope::run
