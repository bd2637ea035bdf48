#pragma once

#include <string>
#include <utility>
#include <vector>

#include <CLI/CLI.hpp>

#include "core/run/run_spec.h"

namespace batchscope::cli {

/// The options that describe a run, shared by the verbs that have one.
class RunOptions {
public:
  /// Adds all of them but those in `without` (names with their dashes).
  void add_to(CLI::App& app, const std::vector<std::string>& without = {});
  /// Puts what was given over `spec`; throws Error (input) naming the option.
  void apply(run::RunSpec& spec) const;
  /// The options that were given.
  std::vector<std::string> given() const;
  const CLI::Option* find(const std::string& name) const; ///< null where it was left out

private:
  void refuse_contradictions() const;

  std::vector<std::pair<std::string, const CLI::Option*>> options_;
};

/// The schedules' forms, for the help of the verbs that take one.
std::string schedule_help();

/// The text of a file, for descriptions of runs and sweeps; throws Error (input) naming the file.
std::string read_text_file(const std::string& file);

} // namespace batchscope::cli
