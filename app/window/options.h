#pragma once

#include <QString>

#include <optional>

namespace batchscope::window {

/// What the command line asks for.
struct Options {
  QString database;               ///< absolute; empty: not named
  bool check_display = false;     ///< only say whether a window can be opened
  std::optional<int> exit_status; ///< all was said already: leave with this
};

/// Prints help, version and what is wrong (one line on standard error) itself. Before any QApplication.
Options parse_options(int& argc, char** argv);

/// Prints `batchscope: error: MESSAGE` as one line; returns the exit status for bad usage and input.
int fail(const QString& message);

} // namespace batchscope::window
