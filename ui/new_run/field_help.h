#pragma once

#include "core/run/spec_fields.h"
#include "ui/widgets/widgets.h"

namespace batchscope::ui {

/// What there is to know about the field that the keyboard is in: a sentence, its range and default, its option on the
/// command line, texts to begin with. UI thread.
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
