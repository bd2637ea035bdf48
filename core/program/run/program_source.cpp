#include "core/program/run/program_source.h"

#include "core/base/error.h"
#include "core/program/process/command.h"
#include "core/program/process/detail/child_start.h"
#include "core/program/process/detail/program_folder.h"
#include "core/program/process/detail/trial_folder.h"
#include "core/program/protocol/link.h"
#include "core/program/run/detail/supervisor.h"
#include "core/program/run/left_run.h"
#include "core/telemetry/message.h"

namespace batchscope::program {

namespace {

namespace fs = std::filesystem;

/// Common base of the runs of programs, started or adopted.
class FollowedRun : public ProgramRun {
public:
  explicit FollowedRun(const run::RunSpec& spec) : spec_(spec) {}

  run::Environment environment() const override { return run::environment_here(); }
  void set_place(const run::RunPlace& place) override { place_ = place; }

  telemetry::RunOutcome run(telemetry::Sink& sink, run::RunControl& control) override {
    try {
      remove_abandoned_trials();
      remove_abandoned_sockets();
      if (!place_.uid.empty())
        return follow(ProgramFolder(folder_of_program(place_.database, place_.uid)), sink, control);
      const TrialFolder trial;
      place_.uid = trial.uid();
      return follow(trial.folder(), sink, control);
    } catch (const std::exception& error) {
      verdict_.reason = telemetry::because(telemetry::Words::not_accepted, {{"error", std::string(error.what())}});
      control.close();
      telemetry::RunOutcome outcome;
      outcome.status = telemetry::RunStatus::failed;
      outcome.reason = error.what();
      return outcome;
    }
  }

  void stored() override { ProgramFolder(folder_of_program(place_.database, place_.uid)).tidy(); }

  std::int64_t pid() const override { return pid_; }
  const Verdict& verdict() const override { return verdict_; }
  const std::optional<Exit>& exit() const override { return exit_; }
  std::optional<std::uint64_t> peak() const override { return peak_; }
  const std::optional<telemetry::OutOfMemory>& shortage() const override { return shortage_; }
  const std::string& output_tail() const override { return output_tail_; }

protected:
  virtual telemetry::RunOutcome follow(const ProgramFolder& folder, telemetry::Sink& sink,
                                       run::RunControl& control) = 0;

  telemetry::RunOutcome follow(Supervisor& supervisor, run::RunControl& control) {
    telemetry::RunOutcome outcome = supervisor.run(control);
    verdict_ = supervisor.verdict();
    exit_ = supervisor.exit();
    peak_ = supervisor.peak();
    shortage_ = supervisor.shortage();
    output_tail_ = supervisor.output_tail();
    return outcome;
  }

  /// The texts of --read may have placeholders, too: {out} is a folder of this run only.
  ReadFiles files_in(const ProgramFolder& folder) const {
    run::ProgramSpec program = *spec_.program;
    program.command = program.reads;
    return ReadFiles(filled_command(program, filling_of(spec_, place_, folder.out())), program.folder);
  }

  const run::RunSpec spec_;
  run::RunPlace place_;
  std::int64_t pid_ = 0;

private:
  Verdict verdict_;
  std::optional<Exit> exit_;
  std::optional<std::uint64_t> peak_;
  std::optional<telemetry::OutOfMemory> shortage_;
  std::string output_tail_;
};

class StartedRun final : public FollowedRun {
public:
  StartedRun(const run::RunSpec& spec, const Surroundings& surroundings)
      : FollowedRun(spec), surroundings_(surroundings) {}

  run::RunStart start() const override {
    run::RunStart start;
    if (spec_.batch.kind == run::BatchChoice::Kind::number)
      start.batch = spec_.batch.number;
    start.accumulate = spec_.accumulate;
    start.budget_bytes = spec_.memory_budget.value_or(0);
    start.program = run::ProgramStart{};
    return start;
  }

private:
  telemetry::RunOutcome follow(const ProgramFolder& folder, telemetry::Sink& sink, run::RunControl& control) override {
    Link link(socket_folder(place_.uid));
    ReadFiles files = files_in(folder);
    files.skip_present(); // of earlier programs
    const std::shared_ptr<Child> child =
        start_child(spec_, surroundings_, place_, folder, link, files.empty() ? Json() : files.position());
    pid_ = child->pid();
    run::RunStart begun = start();
    begun.program->output = folder.output().string();
    Supervisor supervisor(spec_, place_, folder, link, Process::started(child), std::move(files), sink);
    supervisor.begin(begun); // also for a program that never speaks
    return FollowedRun::follow(supervisor, control);
  }

  const Surroundings surroundings_;
};

class AdoptedRun final : public FollowedRun {
public:
  AdoptedRun(const run::RunSpec& spec, const run::RunStart& start, const LeftRun& left)
      : FollowedRun(spec), start_(start), left_(left) {}

  run::RunStart start() const override { return start_; }

private:
  telemetry::RunOutcome follow(const ProgramFolder& folder, telemetry::Sink& sink, run::RunControl& control) override {
    const auto note = folder.note();
    if (!note)
      throw input_error("its program has left nothing to recover");
    pid_ = note->pid;
    Link link(note->socket.parent_path());
    Process process = Process::left(ProgramFolder::group_of(*note, place_.uid));
    ReadFiles files = files_in(folder);
    files.resume(note->reads);
    Supervisor supervisor(spec_, place_, folder, link, std::move(process), std::move(files), sink);
    supervisor.resume(left_, start_);
    return FollowedRun::follow(supervisor, control);
  }

  const run::RunStart start_;
  const LeftRun left_;
};

} // namespace

std::unique_ptr<ProgramRun> open_program(const run::RunSpec& spec, const Surroundings& surroundings) {
  if (!spec.program)
    throw input_error("the run has no program", "program");
  run::check(spec);
  check_command(spec);
  check_can_start({.command = filled_command(*spec.program, filling_of(spec, {}, {})),
                   .folder = spec.program->folder,
                   .environment = surroundings.environment,
                   .output = {}});
  return std::make_unique<StartedRun>(spec, surroundings);
}

std::unique_ptr<ProgramRun> adopt_program(const run::RunSpec& spec, const run::RunStart& start, const LeftRun& left) {
  return std::make_unique<AdoptedRun>(spec, start, left);
}

fs::path folder_of_program(const fs::path& database, const std::string& uid) {
  fs::path folder = fs::absolute(database);
  folder += "-programs";
  return folder / uid;
}

fs::path out_of_program(const fs::path& database, const std::string& uid) {
  return ProgramFolder(folder_of_program(database, uid)).out();
}

} // namespace batchscope::program
