#include "ui/texts/field_edit.h"

#include "ui/texts/spec_texts.h"
#include "ui/widgets/labelled_edit.h"

namespace batchscope::ui {

run::SpecField as_for_programs(run::SpecField field) {
  if (field.key == "batch") {
    field.choices = {"auto"};
    field.help = "Number of examples for {batch}, or given to the program's loader; auto leaves it to the program";
  } else if (field.key == "memory_budget") {
    field.help = "Memory that the program may allocate, such as 2GB";
    field.default_text = "no limit";
  }
  return field;
}

LabelledEdit* new_field_edit(const std::string& key, QWidget* parent) {
  const run::SpecField& field = run::spec_field(key);
  auto* edit = new LabelledEdit(field_translation(field.label), parent);
  edit->setObjectName(QString::fromStdString(key));
  describe(*edit, field);
  QStringList choices;
  for (const std::string& choice : field.choices)
    choices << QString::fromStdString(choice);
  if (!choices.isEmpty())
    edit->set_choices(choices);
  return edit;
}

void describe(LabelledEdit& edit, const run::SpecField& field) {
  edit.set_help(field_translation(field.help));
  edit.edit()->setPlaceholderText(field_translation(field.default_text));
}

} // namespace batchscope::ui
