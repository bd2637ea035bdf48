#pragma once

#include <limits>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "core/run/run_spec.h"

namespace batchscope::run {

class FieldMember;

/// Bounds of a number; finite numbers only.
struct Bounds {
  double least = -std::numeric_limits<double>::infinity();
  bool includes_least = true;
  double below = std::numeric_limits<double>::infinity();
};

/// One field of a RunSpec: one row of the table from which options, help, form, JSON, command line text and checks
/// follow. All texts are English and static.
struct SpecField {
  enum class Kind {
    text,    ///< free text, or a small syntax of its own (model, data, schedule, batch, warm-up)
    integer, ///< an integer
    real,    ///< a finite number
    bytes,   ///< `400MB`, `400MiB`
    choice,  ///< one of `choices`
    flag,    ///< `true` or `false`
  };

  std::string key{};                           ///< JSON key: `lr_rule`
  std::shared_ptr<const FieldMember> member{}; ///< the member of RunSpec and how it is read and written
  std::string label{};                         ///< text beside the field in a form
  std::string placeholder{};                   ///< name of the value in the command line's help; empty for a flag
  std::string unit{};                          ///< "examples", "steps"; empty if it has none
  Bounds bounds{};                             ///< Kind::integer, real and bytes
  std::string range{};                         ///< "above 0", from the bounds; empty if `choices` or `help` say it
  std::vector<std::string> choices{};      ///< Kind::choice: all of them; Kind::text: suggestions, others are accepted
  std::string help{};                      ///< one sentence, without a full stop
  std::string default_text{};              ///< what an empty field means, for display: "0.001, with sgd 0.1"
  std::string group{};                     ///< one of spec_groups()
  bool advanced = false;                   ///< not needed for a first run
  bool for_programs = false;               ///< means the same for a run of the user's own program
  std::vector<std::string> alternatives{}; ///< keys of the fields of which only one can be given with this one
  /// Value of the unset field where it follows from other fields; empty if it does not. Null if it never does.
  std::string (*derived)(const RunSpec&) = nullptr;
  /// Checks what choices and bounds do not say; throws Error (input). Null if there is nothing.
  void (*check)(const RunSpec&) = nullptr;
  std::string option{};   ///< command line option, from the key: `--lr-rule`
  Kind kind = Kind::text; ///< from the member's type
};

/// All fields in the order of a form: group by group.
const std::vector<SpecField>& spec_fields();
/// Throws Error (input) for an unknown key.
const SpecField& spec_field(const std::string& key);
/// Model and data, Batch size, Length, Optimizer, Regularization, Device.
const std::vector<std::string>& spec_groups();

/// NAME of the key `set.NAME`, a placeholder of a program; nothing for another key.
std::optional<std::string> placeholder_in(const std::string& key);
/// Keys of the fields that the spec has: all, or of a program those for programs, then `set.NAME` for each of its
/// placeholders. The functions below take the latter, too; their values are texts.
std::vector<std::string> keys_of(const RunSpec& spec);

/// The field's value as text for a form, as set_field() accepts it; empty if unset. Throws Error (input) for an unknown
/// key, as do the next two functions.
std::string field_text(const RunSpec& spec, const std::string& key);
/// The same for display: an unset field shows the value that follows from the other fields (the learning rate of the
/// chosen optimizer), else its `default_text`.
std::string field_shown(const RunSpec& spec, const std::string& key);
/// Parses the text into the field; surrounding spaces are ignored. An empty text unsets the field or resets it to its
/// default. Throws Error (input) naming the option if the text is not a value of the field's kind or is out of range.
/// check_fields() checks what depends on other fields, and the syntax of model, data, schedule, device and choices.
/// `epochs`, `examples` and `steps` are one choice: setting one unsets the other two, and emptying the one that is set
/// restores the default length. `accumulate` and `effective_batch` do not affect each other: setting both is an error
/// that check_fields() reports.
void set_field(RunSpec& spec, const std::string& key, const std::string& text);

/// All errors of the spec as (key, message), in the order of spec_fields(), at most one message per field. Empty
/// exactly if check() does not throw.
std::vector<std::pair<std::string, std::string>> check_fields(const RunSpec& spec);
/// Unsets the alternatives of the given fields, except those that are given too. For values that override a spec
/// (from a file or the command line).
void unset_alternatives(RunSpec& spec, const std::vector<std::string>& given);

} // namespace batchscope::run
