#pragma once

#include <optional>

#include "core/train/run_spec.h"
#include "ui/widgets/widgets.h"

namespace batchscope::ui {

/// The call of the command line that does the same as the form. UI thread.
class CommandCard : public Card {
  Q_OBJECT

public:
  explicit CommandCard(QWidget* parent = nullptr);
  void show_spec(const std::optional<train::RunSpec>& spec, int errors);
  /// Empty while a field is wrong.
  const QString& command() const { return command_; }

private:
  QString command_;
  QLabel* text_;
};

/// `batchscope-cli train ...`, as a shell takes it.
QString command_line(const train::RunSpec& spec);

} // namespace batchscope::ui
