#pragma once

#include <map>
#include <string>
#include <utility>
#include <vector>

#include <CLI/CLI.hpp>

#include "core/run/run_spec.h"
#include "core/sweep/sweep_spec.h"

namespace batchscope::cli {

/// The options that describe a run, shared by several verbs.
class RunOptions {
public:
  /// Adds all options but those in `without` (names with their dashes). `helps`: other texts than those for training.
  void add_to(CLI::App& app, const std::vector<std::string>& without = {},
              const std::map<std::string, std::string>& helps = {});
  /// Applies the options that were given to `spec`; throws Error (input) naming the option.
  void apply(run::RunSpec& spec) const;
  /// Names of the options that were given.
  std::vector<std::string> given() const;
  const CLI::Option* find(const std::string& name) const; ///< null if it was left out

private:
  void refuse_contradictions() const;

  std::vector<std::pair<std::string, const CLI::Option*>> options_;
};

/// The forms of schedules, for help texts.
std::string schedule_help();

/// Reads a JSON file that describes a run, a sweep or a model; throws Error (input) naming the file.
std::string read_spec_file(const std::string& file);

/// The run or sweep that a file specifies. It is checked as it stands, even if options would correct it; throws Error
/// (input) naming the file.
run::RunSpec run_spec_from_file(const std::string& file);
sweep::SweepSpec sweep_spec_from_file(const std::string& file);

} // namespace batchscope::cli
