#pragma once

#include <QList>

#include "ui/widgets/widgets.h"

class QToolButton;

namespace batchscope::ui {

class FieldEditor;

/// A group of fields. Advanced fields are folded away beneath the others. UI thread.
class FieldCard : public Card {
  Q_OBJECT

public:
  FieldCard(const QString& title, QWidget* parent = nullptr);
  void add(FieldEditor* editor);
  /// Call it after the last add().
  void finish();

  bool folded() const { return fold_ && folded_; }
  void set_folded(bool folded);
  /// Call it after errors of fields have changed. Names the folded fields with errors but does not unfold them, because
  /// that would move the fields below.
  void show_errors();

private:
  QList<FieldEditor*> more_;
  QToolButton* fold_ = nullptr; ///< only if there are advanced fields
  QVBoxLayout* rows_;
  QWidget* inside_ = nullptr;
  bool folded_ = true;
};

} // namespace batchscope::ui
