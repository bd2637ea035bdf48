#pragma once

#include <string>
#include <utility>
#include <vector>

#include "core/run/run_spec.h"

namespace batchscope::run {

/// One field of a RunSpec, described for a form and for the command line's help. All texts are English and static.
struct SpecField {
  enum class Kind {
    text,    ///< anything, or a small language of its own (model, data, schedule, batch, warm-up)
    integer, ///< a whole number
    real,    ///< a finite number
    bytes,   ///< `400MB`, `400MiB`
    choice,  ///< one of `choices`
    flag,    ///< `true` or `false`
  };

  std::string key{};         ///< its name in JSON: `lr_rule`
  std::string option{};      ///< its name on the command line: `--lr-rule`
  std::string label{};       ///< for people, beside the field: "Rate follows the batch"
  std::string placeholder{}; ///< stands for the value in the command line's help: `RULE`; empty for a flag
  Kind kind = Kind::text;
  std::string unit{};  ///< "examples", "steps"; empty where it has none
  std::string range{}; ///< "0 <= p < 1"; empty where `choices` or `help` say it
  std::vector<std::string>
      choices{};              ///< Kind::choice: all of them; Kind::text: some to begin with, others are accepted
  std::string help{};         ///< one sentence, without a full stop
  std::string default_text{}; ///< what an empty field means, for people: "0.001, with sgd 0.1"
  std::string group{};        ///< one of spec_groups()
  bool advanced = false;      ///< a first run does well without it
};

/// All of them, in the order of a form: the groups one after the other.
const std::vector<SpecField>& spec_fields();
/// Model and data, Batch size, Length, Optimizer, Regularization, Device.
const std::vector<std::string>& spec_groups();

/// What a form shows for the field: the text that set_field() takes; empty where it is unset. Throws Error (input) for
/// another key, as do the next two.
std::string field_text(const RunSpec& spec, const std::string& key);
/// The same for people: an unset field shows what it will be where the other fields tell (the rate of the optimizer
/// chosen), else its `default_text`.
std::string field_shown(const RunSpec& spec, const std::string& key);
/// Reads the text into the field; spaces around it do not count. An empty text unsets the field or gives it its
/// default. Throws Error (input), naming the option, where the text is no value of the field's kind or outside of its
/// range; what depends on other fields and the small languages (model, data, schedule, device, choices) are left to
/// check_fields().
/// `epochs`, `examples` and `steps` are one choice: setting one unsets the other two, and emptying the one that is set
/// gives the default length. `accumulate` and `effective_batch` do not touch each other: both given is an error of
/// check_fields().
void set_field(RunSpec& spec, const std::string& key, const std::string& text);

/// Everything that is wrong with the spec, as (key, message), in the order of spec_fields(), at most one message a
/// field. Empty exactly where check() throws nothing.
std::vector<std::pair<std::string, std::string>> check_fields(const RunSpec& spec);
/// The key of the field that an error of check(), of a Session or of set_field() is about, by how its message begins;
/// empty where it names none.
std::string field_of_error(const std::string& message);

} // namespace batchscope::run
