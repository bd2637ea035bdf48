#pragma once

#include <filesystem>
#include <optional>

#include "core/run/run_spec.h"
#include "ui/widgets/widgets.h"

namespace batchscope::ui {

/// The command line that does the same as the form. UI thread.
class CommandCard : public Card {
  Q_OBJECT

public:
  /// `copy` is a button placed at its end.
  CommandCard(std::filesystem::path database, QWidget* copy, QWidget* parent = nullptr);
  void show_spec(const std::optional<run::RunSpec>& spec, int errors);
  /// Instead of a command line.
  void show_hint(const QString& hint);
  /// Empty while a field is wrong.
  const QString& command() const { return command_; }

protected:
  bool eventFilter(QObject* watched, QEvent* event) override;

private:
  void show_command();

  std::filesystem::path database_;
  QString command_;
  QLabel* text_;
};

/// A shell command split into lines of at most `columns` characters where possible; still valid in a shell.
QString broken_command(const QString& command, int columns);

} // namespace batchscope::ui
