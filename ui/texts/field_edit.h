#pragma once

#include <string>

#include "core/run/spec_fields.h"

class QWidget;

namespace batchscope::ui {

class LabelledEdit;

/// The field as it is for a run of the user's own program: some have another meaning or default there.
run::SpecField as_for_programs(run::SpecField field);

/// Label, help, default and suggestions of a field in a form; its object name is the field's key.
LabelledEdit* new_field_edit(const std::string& key, QWidget* parent);
/// Help and default of the field, for programs or for built-in models.
void describe(LabelledEdit& edit, const run::SpecField& field);

} // namespace batchscope::ui
