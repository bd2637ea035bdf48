#pragma once

#include "core/run/spec_fields.h"
#include "ui/widgets/widgets.h"

namespace batchscope::ui {

/// Help for the field that has the keyboard focus: a sentence, its range and default, its command line option, and
/// examples. UI thread.
class FieldHelp : public Card {
  Q_OBJECT

public:
  explicit FieldHelp(QWidget* parent = nullptr);
  void show_field(const run::SpecField& field);

private:
  QLabel* help_;
  QLabel* facts_;
  QLabel* forms_title_;
  QLabel* forms_;
};

} // namespace batchscope::ui
