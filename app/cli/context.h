#pragma once

#include <filesystem>
#include <functional>
#include <optional>
#include <string>

#include <CLI/CLI.hpp>

namespace batchscope::cli {

/// What is done and what has gone wrong, as scripts see it.
namespace exit_status {
inline constexpr int done = 0;
inline constexpr int job_failed = 1;
inline constexpr int bad_input = 2;
inline constexpr int interrupted = 130;
} // namespace exit_status

/// The options of every verb.
struct Context {
  std::optional<std::string> db;
  bool json = false;
  bool quiet = false;

  /// `--db`, else the default place; throws Error (input) for an empty text.
  std::filesystem::path database() const;
};

/// A verb of the program: its options, and what it does once they are parsed. Returns the exit status.
struct Verb {
  CLI::App* app = nullptr;
  std::function<int(const Context&)> run;
};

/// Opens a database that is there already and lets go of it: what it could not take is better said before an hour of
/// training than after. Throws Error (input). Makes nothing.
void refuse_unusable(const std::filesystem::path& database);

Verb add_plan(CLI::App& program);
Verb add_find(CLI::App& program);
Verb add_train(CLI::App& program);
Verb add_watch(CLI::App& program);
Verb add_steer(CLI::App& program);
Verb add_sweep(CLI::App& program);
Verb add_list(CLI::App& program);
Verb add_show(CLI::App& program);
Verb add_export(CLI::App& program);
Verb add_rename(CLI::App& program);
Verb add_note(CLI::App& program);
Verb add_delete(CLI::App& program);
Verb add_restore(CLI::App& program);
Verb add_purge(CLI::App& program);
Verb add_check(CLI::App& program);
Verb add_demo(CLI::App& program);

} // namespace batchscope::cli
