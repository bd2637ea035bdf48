#pragma once

#include <map>
#include <string>
#include <vector>

#include "core/run/run_spec.h"
#include "core/run/spec_fields.h"

// The fields of the page New run: those of the table of a run, and for a program of the user's own those of
// run::ProgramSpec, as if they were fields of that table. UI thread.
namespace batchscope::ui {

/// Kind of run that a form describes: of a built-in network, or of a program of the user's own.
enum class FormKind { network, program };

/// A group of fields in a frame.
struct FormCard {
  const char* title; ///< untranslated
  std::vector<const run::SpecField*> fields;
  int column;
};
const std::vector<FormCard>& form_cards(FormKind kind);
/// All fields of the cards. A program's own have the keys command, folder, attach, set, metrics, reads, probe_steps,
/// probe_seconds and grace; SpecField::placeholder is an example of theirs.
std::vector<const run::SpecField*> form_fields(FormKind kind);

/// Settings of which none is given yet.
run::RunSpec empty_spec(FormKind kind);
inline FormKind kind_of(const run::RunSpec& spec) {
  return spec.program ? FormKind::program : FormKind::network;
}

/// As run::field_text() and run::set_field(), for all fields of a form. Fields with several values have one in a line.
std::string form_text(const run::RunSpec& spec, const run::SpecField& field);
void set_form_field(run::RunSpec& spec, const run::SpecField& field, const std::string& text);
/// The key of the form's field that an error is about, from that of run::SpecField and the text of the error.
std::string form_key(const std::string& key, const std::string& message);
/// As run::check_fields(), with the keys of the form's fields.
std::vector<std::pair<std::string, std::string>> check_form(const run::RunSpec& spec);

/// How a field is edited.
enum class FieldInput {
  usual,   ///< as its kind says
  command, ///< one line in which placeholders are highlighted
  lines,   ///< several values, one in a line
};
FieldInput input_of(const run::SpecField& field);

} // namespace batchscope::ui
