#pragma once

#include <QList>

#include "ui/widgets/widgets.h"

class QToolButton;

namespace batchscope::ui {

class FieldEditor;

/// A group of fields. Those that a first run does well without are folded away beneath the others. UI thread.
class FieldCard : public Card {
  Q_OBJECT

public:
  FieldCard(const QString& title, QWidget* parent = nullptr);
  void add(FieldEditor* editor);
  /// After the last add().
  void finish();

  bool folded() const { return fold_ && folded_; }
  void set_folded(bool folded);
  /// After errors of fields have changed: of those that are folded away it says which are wrong, and stays as it is,
  /// since opening would move the fields below.
  void show_errors();

private:
  QList<FieldEditor*> more_;
  QToolButton* fold_ = nullptr; ///< only where there is more
  QVBoxLayout* rows_;
  QWidget* inside_ = nullptr;
  bool folded_ = true;
};

} // namespace batchscope::ui
