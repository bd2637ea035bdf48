#include "core/program/program_source.h"

#include <fstream>

#include <fmt/format.h>

#include "core/base/error.h"
#include "core/program/client.h"
#include "core/program/command.h"
#include "core/program/detail/program_folder.h"
#include "core/program/detail/supervisor.h"
#include "core/program/link.h"

namespace batchscope::program {

namespace {

namespace fs = std::filesystem;

class StartedRun final : public ProgramRun {
public:
  StartedRun(const run::RunSpec& spec, const Surroundings& surroundings) : spec_(spec), surroundings_(surroundings) {}

  run::RunStart start() const override {
    run::RunStart start;
    if (spec_.batch.kind == run::BatchChoice::Kind::number)
      start.batch = spec_.batch.number;
    start.accumulate = spec_.accumulate;
    start.budget_bytes = spec_.memory_budget.value_or(0);
    start.program = run::ProgramStart{};
    return start;
  }
  run::Environment environment() const override { return run::environment_here(); }
  void set_place(const run::RunPlace& place) override { place_ = place; }

  telemetry::RunOutcome run(telemetry::Sink& sink, run::RunControl& control) override {
    try {
      remove_abandoned_sockets();
      const ProgramFolder folder = place_.uid.empty() ? ProgramFolder::temporary(place_.uid)
                                                      : ProgramFolder(folder_of_program(place_.database, place_.uid));
      folder.make(*spec_.program);
      Link link(socket_folder(place_.uid));
      const auto child = std::make_shared<Child>(child_start(folder, link));
      pid_ = child->pid();
      folder.note(child->pid(), link.path());
      Supervisor supervisor(spec_, place_, folder, link, Process::started(child), sink);
      const telemetry::RunOutcome outcome = supervisor.run(control);
      verdict_ = supervisor.verdict();
      exit_ = supervisor.exit();
      peak_ = supervisor.peak();
      return outcome;
    } catch (const Error& error) {
      verdict_.reason = error.what();
      control.close();
      telemetry::RunOutcome outcome;
      outcome.status = telemetry::RunStatus::failed;
      outcome.reason = error.what();
      return outcome;
    }
  }

  std::int64_t pid() const override { return pid_; }
  const Verdict& verdict() const override { return verdict_; }
  const std::optional<Exit>& exit() const override { return exit_; }
  std::optional<std::uint64_t> peak() const override { return peak_; }

private:
  ChildStart child_start(const ProgramFolder& folder, const Link& link) const {
    const run::ProgramSpec& program = *spec_.program;
    Filling filling{.accumulate = spec_.accumulate, .seed = spec_.seed, .run = place_.run, .out = folder.out()};
    if (spec_.batch.kind == run::BatchChoice::Kind::number)
      filling.batch = spec_.batch.number;
    ChildStart start{.command = filled_command(program, filling),
                     .folder = program.folder,
                     .environment = surroundings_.environment,
                     .output = folder.output(),
                     .data_limit = program.attach ? std::nullopt : spec_.memory_budget,
                     .returns_freed_memory = surroundings_.returns_freed_memory || spec_.memory_budget.has_value()};
    start.environment.emplace_back("BATCHSCOPE_SOCKET", link.path().string());
    start.environment.emplace_back("BATCHSCOPE_RUN", place_.uid);
    start.environment.emplace_back("BATCHSCOPE_SPILL", folder.spill().string());
    if (program.attach) {
      start.environment.emplace_back("BATCHSCOPE_ATTACH", "auto");
      start.environment.emplace_back("PYTHONPATH", python_path(folder));
    }
    return start;
  }

  /// The folder with the client in front of what the program would have had.
  std::string python_path(const ProgramFolder& folder) const {
    const char* inherited = std::getenv("PYTHONPATH");
    std::string rest = inherited ? inherited : "";
    for (const auto& [name, value] : surroundings_.environment)
      if (name == "PYTHONPATH")
        rest = value;
    return rest.empty() ? folder.python().string() : fmt::format("{}:{}", folder.python().string(), rest);
  }

  const run::RunSpec spec_;
  const Surroundings surroundings_;
  run::RunPlace place_;
  std::int64_t pid_ = 0;
  Verdict verdict_;
  std::optional<Exit> exit_;
  std::optional<std::uint64_t> peak_;
};

} // namespace

std::unique_ptr<ProgramRun> open_program(const run::RunSpec& spec, const Surroundings& surroundings) {
  if (!spec.program)
    throw input_error("the run has no program", "program");
  run::check(spec);
  check_command(spec);
  return std::make_unique<StartedRun>(spec, surroundings);
}

fs::path folder_of_program(const fs::path& database, const std::string& uid) {
  fs::path folder = fs::absolute(database);
  folder += "-programs";
  return folder / uid;
}

} // namespace batchscope::program
