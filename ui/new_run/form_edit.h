#pragma once

#include <QJsonObject>
#include <QUndoCommand>

#include <functional>

namespace batchscope::ui {

class FieldEditor;

/// One step of Undo in the form of a new run: what was typed into one field, or a form that was filled as a whole (by
/// a preset, a file, another run). Steps of typing into the same field become one. It has been done when it is pushed.
class FormEdit : public QUndoCommand {
public:
  using Show = std::function<void(const QJsonObject& texts)>;
  /// Texts as of SpecForm::texts(), which `show` puts back. `field` is the one that was typed into, or null.
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
