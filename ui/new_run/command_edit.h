#pragma once

#include <QLineEdit>

namespace batchscope::ui {

/// A line for a command, in which placeholders such as {batch} are highlighted. UI thread.
class CommandEdit : public QLineEdit {
  Q_OBJECT

public:
  explicit CommandEdit(QWidget* parent = nullptr);

  /// Where the placeholders are: (start, length) in characters of the text, with their braces.
  static QList<QPair<int, int>> placeholders(const QString& text);

protected:
  void changeEvent(QEvent* event) override; ///< colours
  void inputMethodEvent(QInputMethodEvent* event) override;

private:
  void highlight();

  bool composing_ = false; ///< an input method shows text that is not entered yet
};

} // namespace batchscope::ui
