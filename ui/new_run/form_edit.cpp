#include "ui/new_run/form_edit.h"

#include <utility>

#include "ui/new_run/field_editor.h"

namespace batchscope::ui {

FormEdit::FormEdit(const QString& what, QJsonObject before, QJsonObject after, FieldEditor* field, Show show)
    : QUndoCommand(what), before_(std::move(before)), after_(std::move(after)), field_(field), show_(std::move(show)) {}

void FormEdit::undo() {
  put(before_);
}

void FormEdit::redo() {
  if (std::exchange(done_, true))
    put(after_);
}

bool FormEdit::mergeWith(const QUndoCommand* next) {
  const auto* edit = static_cast<const FormEdit*>(next);
  if (edit->field_ != field_)
    return false;
  after_ = edit->after_;
  setObsolete(after_ == before_);
  return true;
}

void FormEdit::put(const QJsonObject& texts) {
  show_(texts);
  if (field_ != nullptr)
    field_->setFocus(); // makes the change visible
}

} // namespace batchscope::ui
