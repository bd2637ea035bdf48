#pragma once

#include "ui/widgets/widgets.h"

namespace batchscope::ui {

/// "Level 3 in a plain PyTorch loop: three lines": what to add to one's own loop, to copy, and the file that it
/// imports. UI thread.
class ClientCard : public Card {
  Q_OBJECT

public:
  explicit ClientCard(QWidget* parent = nullptr);

Q_SIGNALS:
  void saved(const QString& file);
  void problem(const QString& text);
  void copied();

private:
  void copy();
  void ask_to_save();
  void save(const QString& file);
};

} // namespace batchscope::ui
