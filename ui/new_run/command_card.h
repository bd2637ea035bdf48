#pragma once

#include <optional>

#include "core/train/run_spec.h"
#include "ui/widgets/widgets.h"

namespace batchscope::ui {

/// The call of the command line that does the same as the form. UI thread.
class CommandCard : public Card {
  Q_OBJECT

public:
  /// `copy` is a button that stands at its end.
  explicit CommandCard(QWidget* copy, QWidget* parent = nullptr);
  void show_spec(const std::optional<train::RunSpec>& spec, int errors);
  /// Empty while a field is wrong.
  const QString& command() const { return command_; }

protected:
  bool eventFilter(QObject* watched, QEvent* event) override;

private:
  void show_command();

  QString command_;
  QLabel* text_;
};

/// `batchscope-cli train ...`, as a shell takes it.
QString command_line(const train::RunSpec& spec);
/// The same in lines of at most so many characters where that can be, as a shell takes it, too.
QString broken_command(const QString& command, int columns);

} // namespace batchscope::ui
