#pragma once

#include <optional>
#include <string>
#include <vector>

#include <CLI/CLI.hpp>

#include "app/cli/run_options.h"
#include "core/program/run/program_source.h"
#include "core/run/run_spec.h"
#include "core/sweep/variation.h"

namespace batchscope::cli {

/// The options of a training program of the user's own, shared by run, find and sweep.
class ProgramOptions {
public:
  /// `several`: whether --set may have several values, which a sweep varies.
  void add_to(CLI::App& app, bool several = false);
  /// Makes the run one of this program, with the options that were given. Throws Error (input) naming the option.
  /// `run`: those of the run, whose --seed is the program's if it was given.
  void apply(run::RunSpec& spec, const std::vector<std::string>& command, const RunOptions& run) const;
  /// The placeholders that have several values.
  std::vector<sweep::Variation> variations() const;
  /// Surroundings of the program; never stored.
  program::Surroundings surroundings() const;
  /// Throws Error (input) if one was given, as they mean nothing without a program.
  void refuse_given() const;
  /// The same but --env, which a sweep that goes on takes again.
  void refuse_settings(const CLI::Option* beside) const;

private:
  bool several_ = false;
  const CLI::Option* set_ = nullptr;
  const CLI::Option* attach_ = nullptr;
  const CLI::Option* metrics_ = nullptr;
  const CLI::Option* reads_ = nullptr;
  const CLI::Option* probe_steps_ = nullptr;
  const CLI::Option* probe_seconds_ = nullptr;
  const CLI::Option* folder_ = nullptr;
  const CLI::Option* environment_ = nullptr;
  const CLI::Option* grace_ = nullptr;

  std::vector<const CLI::Option*> all() const;
};

/// The help of the placeholders in a command.
std::string placeholder_help();

} // namespace batchscope::cli
