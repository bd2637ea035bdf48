#pragma once

#include <QString>

#include <optional>

namespace batchscope::window {

/// The command line options of the window.
struct Options {
  QString database;               ///< absolute; empty if not given
  bool check_display = false;     ///< only report whether a window can be opened
  std::optional<int> exit_status; ///< set if the program is to exit with this status; everything was printed
};

/// Prints help, version and errors (one line on standard error) itself. Call it before creating QApplication.
Options parse_options(int& argc, char** argv);

/// Prints `batchscope: error: MESSAGE` in one line; returns the exit status for bad usage and input.
int fail(const QString& message);

} // namespace batchscope::window
