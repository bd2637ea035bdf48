#pragma once

#include <QJsonObject>
#include <QUndoCommand>

#include <functional>

namespace batchscope::ui {

class FieldEditor;

/// An undo step of the new run form: typing into one field, or filling the whole form (from a preset, a file, another
/// run). Consecutive typing into the same field is merged. The change is already done when it is pushed.
class FormEdit : public QUndoCommand {
public:
  using Show = std::function<void(const QJsonObject& texts)>;
  /// The texts are those of SpecForm::texts(); `show` puts them into the form. `field` is the one that was edited, or
  /// null.
  FormEdit(const QString& what, QJsonObject before, QJsonObject after, FieldEditor* field, Show show);

  void undo() override;
  void redo() override;
  int id() const override { return field_ != nullptr ? 1 : -1; }
  bool mergeWith(const QUndoCommand* next) override;

private:
  void put(const QJsonObject& texts);

  QJsonObject before_, after_;
  FieldEditor* field_;
  Show show_;
  bool done_ = false;
};

} // namespace batchscope::ui
