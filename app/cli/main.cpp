#include <algorithm>
#include <array>
#include <cstdio>
#include <new>
#include <string>
#include <string_view>
#include <vector>

#include "app/cli/arguments.h"
#include "app/cli/context.h"
#include "app/cli/output.h"
#include "core/base/error.h"
#include "core/base/standard_streams.h"
#include "core/base/terminal_text.h"
#include "core/run/engine.h"

namespace batchscope::cli {

namespace {

constexpr const char* purpose =
    "Finds a batch size and schedule for a network by measurement: searches, trains, sweeps and compares runs under a "
    "memory budget.";
constexpr const char* footer = "Devices: cpu and cuda:N, which is tested on a pretended GPU and was run on an H200 "
                               "(docs/gpu.md); several GPUs and other cards are untested.\n"
                               "Exit status: 0 success, 1 the job failed, 2 wrong usage or input, 130 interrupted.\n"
                               "batchscope-cli VERB --help lists the options of a verb.";

/// The verbs after whose options `--` and the command of a program may follow.
constexpr std::array program_verbs = {"run", "find", "sweep", "estimate"};

/// Arguments before `--`, if the verb starts a program: the rest is that program's command and no option of this one.
int arguments_before_command(int argc, const char* const* argv) {
  std::string_view verb;
  for (int i = 1; i < argc; ++i) {
    const std::string_view argument = argv[i];
    if (argument == "--")
      return std::find(program_verbs.begin(), program_verbs.end(), verb) == program_verbs.end() ? argc : i;
    if (argument == "--db")
      ++i; // its value
    else if (verb.empty() && !argument.starts_with('-'))
      verb = argument;
  }
  return argc;
}

int run(int argc, const char* const* argv) {
  CLI::App program(purpose, "batchscope-cli");
  program.footer(footer);
  program.set_version_flag("--version", "batchscope-cli " BATCHSCOPE_VERSION, "Print the version");
  program.fallthrough()->require_subcommand(0, 1);
  auto* db = add_value(program, "--db", "FILE",
                       "Run database (default: $BATCHSCOPE_DB, else ~/.local/share/batchscope/runs.db)");
  auto* json = add_switch(program, "--json", "Print one JSON document");
  auto* quiet = add_switch(program, "--quiet", "Do not print progress");

  const std::vector<Verb> verbs{
      add_plan(program),     add_find(program),    add_train(program),  add_run(program),
      add_watch(program),    add_steer(program),   add_sweep(program),  add_list(program),
      add_compare(program),  add_show(program),    add_export(program), add_import(program),
      add_rename(program),   add_note(program),    add_tag(program),    add_delete(program),
      add_restore(program),  add_purge(program),   add_backup(program), add_merge(program),
      add_prune(program),    add_check(program),   add_demo(program),   add_estimate(program),
      add_rescale(program),  add_snippet(program), add_advise(program), add_python_client(program),
      add_reference(program)};
  const int before_command = arguments_before_command(argc, argv);
  if (parse(program, before_command, argv)) {
    finish_output();
    return exit_status::done;
  }
  Context context{text_of(db), json->count() > 0, quiet->count() > 0};
  if (before_command < argc)
    context.command.emplace(argv + before_command + 1, argv + argc);
  const auto verb = std::find_if(verbs.begin(), verbs.end(), [](const Verb& each) { return each.app->parsed(); });
  const int status = verb->run(context);
  finish_output();
  return status;
}

int fail(int status, std::string message) {
  // One line, whatever a file name or a text that was given holds.
  std::replace_if(
      message.begin(), message.end(), [](unsigned char c) { return c < 0x20 || c == 0x7f; }, ' ');
  std::fprintf(stderr, "batchscope-cli: error: %s\n", terminal_text(message).c_str());
  return status;
}

} // namespace

} // namespace batchscope::cli

int main(int argc, char** argv) {
  using namespace batchscope;
  open_standard_streams();
  run::set_openmp_wait();
  try {
    return cli::run(argc, argv);
  } catch (const Error& error) {
    const bool failed = error.kind() == Error::Kind::failed || error.kind() == Error::Kind::device_lost;
    return cli::fail(failed ? cli::exit_status::job_failed : cli::exit_status::bad_input, error.what());
  } catch (const std::bad_alloc&) {
    return cli::fail(cli::exit_status::job_failed, "the system is out of memory");
  } catch (const std::exception& error) {
    return cli::fail(cli::exit_status::job_failed, error.what());
  }
}
