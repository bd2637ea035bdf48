#include "core/run/spec_fields.h"

#include <algorithm>
#include <array>
#include <limits>
#include <type_traits>

#include <fmt/format.h>

#include "core/base/error.h"
#include "core/base/text.h"
#include "core/run/detail/run_checks.h"
#include "core/run/detail/spec_visit.h"

namespace batchscope::run {

namespace {

const SpecField& field_named(const std::string& key) {
  const auto& fields = spec_fields();
  const auto found =
      std::find_if(fields.begin(), fields.end(), [&](const SpecField& field) { return field.key == key; });
  if (found == fields.end())
    throw input_error(fmt::format("unknown run field {}", in_quotes(key)));
  return *found;
}

/// Exact, in the largest unit that gives an integer.
std::string size_text(std::uint64_t bytes) {
  constexpr std::array<std::pair<std::uint64_t, const char*>, 6> units = {{{1'000'000'000, "GB"},
                                                                           {1ULL << 30, "GiB"},
                                                                           {1'000'000, "MB"},
                                                                           {1ULL << 20, "MiB"},
                                                                           {1000, "KB"},
                                                                           {1ULL << 10, "KiB"}}};
  for (const auto& [unit, name] : units) {
    if (bytes > 0 && bytes % unit == 0)
      return fmt::format("{}{}", bytes / unit, name);
  }
  return fmt::format("{}", bytes);
}

template <typename Value> std::string text_of(const SpecField& field, const Value& value) {
  if constexpr (std::is_same_v<Value, std::string>)
    return value;
  else if constexpr (std::is_same_v<Value, BatchChoice> || std::is_same_v<Value, OnOom>)
    return to_string(value);
  else if constexpr (std::is_same_v<Value, std::uint64_t>)
    return field.kind == SpecField::Kind::bytes ? size_text(value) : fmt::format("{}", value);
  else
    return fmt::format("{}", value); // bool: true, false
}
template <typename Value> std::string text_of(const SpecField& field, const std::optional<Value>& value) {
  return value ? text_of(field, *value) : std::string();
}

bool flag_from(const std::string& text, const std::string& option) {
  if (text != "true" && text != "false")
    throw input_error(fmt::format("{}: {} is not accepted; accepted: true, false", option, in_quotes(text)));
  return text == "true";
}

template <typename Value> void read(const SpecField& field, const std::string& text, Value& target) {
  if constexpr (std::is_same_v<Value, std::string>)
    target = text;
  else if constexpr (std::is_same_v<Value, BatchChoice>)
    target = parse_batch(text, field.option);
  else if constexpr (std::is_same_v<Value, OnOom>)
    target = parse_on_oom(text, field.option);
  else if constexpr (std::is_same_v<Value, bool>)
    target = flag_from(text, field.option);
  else if constexpr (std::is_same_v<Value, double>)
    target = parse_number(text, field.option);
  else if constexpr (std::is_same_v<Value, std::int64_t>)
    target = parse_integer(text, field.option, 1, unbounded);
  else
    target = field.kind == SpecField::Kind::bytes
                 ? parse_size(text, field.option)
                 : static_cast<std::uint64_t>(parse_integer(text, field.option, 0, unbounded));
}
template <typename Value> void read(const SpecField& field, const std::string& text, std::optional<Value>& target) {
  Value value{};
  read(field, text, value);
  target = value;
}

bool is_length(const std::string& key) {
  return key == "epochs" || key == "examples" || key == "steps";
}

void set_length(RunSpec& spec, const SpecField& field, const std::string& text) {
  schedule::RunLength length;
  auto& target = field.key == "epochs" ? length.epochs : field.key == "examples" ? length.examples : length.steps;
  if (!text.empty())
    read(field, text, target);
  else if (field_text(spec, field.key).empty())
    return;
  else
    length = RunSpec{}.length;
  spec.length = length;
}

std::string trimmed(const SpecField& field, const std::string& text) {
  if (field.key == "name")
    return one_line(text);
  constexpr const char* blanks = " \t\r\n";
  const std::size_t first = text.find_first_not_of(blanks);
  return first == std::string::npos ? std::string() : text.substr(first, text.find_last_not_of(blanks) - first + 1);
}

/// Calls `use(member)` for the field's member.
template <typename Spec, typename Use> void with_member(Spec& spec, const std::string& key, const Use& use) {
  for_each_field(spec, [&](const char* name, auto& member) {
    if (key == name)
      use(member);
  });
}

/// Messages that do not begin with an option, and the fields that they are about.
constexpr std::array<std::pair<const char*, const char*>, 13> beginnings = {{
    {"data '", "data"},
    {"schedule '", "schedule"},
    {"unknown schedule", "schedule"},
    {"the length of", "epochs"},
    {"epochs is", "epochs"},
    {"examples is", "examples"},
    {"steps is", "steps"},
    {"batch ", "batch"},
    {"no batch size", "batch"},
    {"no size stays within the margin", "margin"},
    {"max-batch ", "max_batch"},
    {"accumulate ", "accumulate"},
    {"the memory budget", "memory_budget"},
}};

} // namespace

std::string field_text(const RunSpec& spec, const std::string& key) {
  const SpecField& field = field_named(key);
  std::string text;
  with_member(spec, key, [&](const auto& member) { text = text_of(field, member); });
  return text;
}

std::string field_shown(const RunSpec& spec, const std::string& key) {
  if (std::string text = field_text(spec, key); !text.empty())
    return text;
  if (key == "lr")
    return fmt::format("{}", learning_rate_or_default(spec));
  if (key == "weight_decay")
    return fmt::format("{}", weight_decay_or_default(spec));
  if (key == "momentum" && spec.optimizer == "sgd")
    return fmt::format("{}", momentum_or_default(spec));
  if (key == "lr_reference_batch" && spec.effective_batch)
    return fmt::format("{}", *spec.effective_batch);
  const bool countable = spec.batch.kind == BatchChoice::Kind::number && spec.batch.number > 0 &&
                         spec.accumulate <= unbounded / spec.batch.number;
  if ((key == "lr_reference_batch" || key == "effective_batch") && countable)
    return fmt::format("{}", spec.batch.number * spec.accumulate);
  return field_named(key).default_text;
}

void set_field(RunSpec& spec, const std::string& key, const std::string& given) {
  const SpecField& field = field_named(key);
  const std::string text = trimmed(field, given);
  if (is_length(key))
    return set_length(spec, field, text);
  const RunSpec standard;
  with_member(spec, key, [&](auto& member) {
    if (!text.empty())
      return read(field, text, member);
    with_member(standard, key, [&](const auto& unset) {
      if constexpr (std::is_same_v<std::decay_t<decltype(unset)>, std::decay_t<decltype(member)>>)
        member = unset;
    });
  });
}

std::vector<std::pair<std::string, std::string>> check_fields(const RunSpec& spec) {
  std::vector<std::pair<std::string, std::string>> wrong;
  for (const SpecField& field : spec_fields()) {
    for (const RunCheck& check : run_checks()) {
      if (field.key != check.key)
        continue;
      try {
        check.check(spec);
      } catch (const Error& error) {
        wrong.emplace_back(field.key, error.what());
      }
    }
  }
  return wrong;
}

std::string field_of_error(const std::string& message) {
  if (message.starts_with("--")) {
    const std::string option = message.substr(0, message.find_first_of(": "));
    for (const SpecField& field : spec_fields()) {
      if (field.option == option)
        return field.key;
    }
  }
  for (const auto& [beginning, key] : beginnings) {
    if (message.starts_with(beginning))
      return key;
  }
  return {};
}

} // namespace batchscope::run
