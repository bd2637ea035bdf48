#pragma once

#include <filesystem>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include <CLI/CLI.hpp>

#include "core/store/run_store.h"

namespace batchscope::cli {

/// Exit statuses.
namespace exit_status {
inline constexpr int done = 0;
inline constexpr int job_failed = 1;
inline constexpr int bad_input = 2;
inline constexpr int interrupted = 130;
} // namespace exit_status

/// Options common to all verbs.
struct Context {
  std::optional<std::string> db;
  bool json = false;
  bool quiet = false;
  /// The words after `--`: a training program of the user's own and its arguments. Verbs that start none refuse it.
  std::optional<std::vector<std::string>> command = {};

  /// `--db`, else the default database; throws Error (input) for an empty text.
  std::filesystem::path database() const;
};

/// A verb of the program: its options, and the function that runs it after parsing and returns the exit status.
struct Verb {
  CLI::App* app = nullptr;
  std::function<int(const Context&)> run;
};

/// The runs of the database, to change them: unlike the store alone this makes no database.
store::RunStore stored_runs(const Context& context);

/// Opens and closes an existing database, so that an unusable one is reported before an hour of training and not after.
/// Throws Error (input). Creates nothing.
void refuse_unusable(const std::filesystem::path& database);

Verb add_plan(CLI::App& program);
Verb add_find(CLI::App& program);
Verb add_train(CLI::App& program);
Verb add_run(CLI::App& program);
Verb add_python_client(CLI::App& program);
Verb add_watch(CLI::App& program);
Verb add_steer(CLI::App& program);
Verb add_sweep(CLI::App& program);
Verb add_list(CLI::App& program);
Verb add_compare(CLI::App& program);
Verb add_show(CLI::App& program);
Verb add_export(CLI::App& program);
Verb add_import(CLI::App& program);
Verb add_rename(CLI::App& program);
Verb add_note(CLI::App& program);
Verb add_tag(CLI::App& program);
Verb add_delete(CLI::App& program);
Verb add_restore(CLI::App& program);
Verb add_purge(CLI::App& program);
Verb add_check(CLI::App& program);
Verb add_backup(CLI::App& program);
Verb add_merge(CLI::App& program);
Verb add_prune(CLI::App& program);
Verb add_demo(CLI::App& program);
Verb add_estimate(CLI::App& program);
Verb add_rescale(CLI::App& program);
Verb add_snippet(CLI::App& program);
Verb add_advise(CLI::App& program);
Verb add_reference(CLI::App& program);

} // namespace batchscope::cli
