#include "core/program/run/left_run.h"

#include <algorithm>

#include "core/program/process/detail/program_folder.h"

namespace batchscope::program {

namespace {

std::optional<int> exit_number(const std::optional<std::int64_t>& number) {
  return number ? std::optional(static_cast<int>(*number)) : std::nullopt;
}

std::optional<LeftRun::End> end_of(const telemetry::ProgramExit& exit) {
  for (const auto known : {telemetry::RunStatus::finished, telemetry::RunStatus::stopped, telemetry::RunStatus::failed,
                           telemetry::RunStatus::interrupted})
    if (exit.status == telemetry::to_string(known))
      return LeftRun::End{.exit = {.code = exit_number(exit.exit_code), .signal = exit_number(exit.signal)},
                          .status = known,
                          .reason = exit.reason};
  return std::nullopt;
}

/// Applies the events that concern the run itself.
struct Taking {
  LeftRun& left;

  void operator()(const telemetry::ProgramConnected& program) const {
    if (std::exchange(left.pid, program.pid) != program.pid)
      left.seq = 0;
  }
  void operator()(const telemetry::ScheduleEdit& edit) const {
    if (!edit.refused && edit.applies_from_step)
      left.edits.push_back({.after_step = *edit.applies_from_step - 1, .schedule = edit.schedule, .batch = edit.batch});
  }
  void operator()(const telemetry::BudgetChange& change) const {
    if (!change.refused && change.budget_bytes.value_or(0) > 0)
      left.budget = change.budget_bytes;
  }
  void operator()(const telemetry::ProgramExit& exit) const { left.end = end_of(exit); }
  void operator()(const telemetry::ProgramBye& bye) const {
    left.bye = Bye{.seq = 0, .status = bye.status, .reason = bye.reason};
  }
  void operator()(const telemetry::StatusChange& change) const {
    left.paused = change.status == telemetry::StatusChange::Status::paused;
  }
  template <typename Other> void operator()(const Other& /*other*/) const {}
};

} // namespace

void LeftRun::take(const telemetry::Event& event) {
  progress.take(event);
  for (const auto& [name, value] : event.values)
    last_steps[name] = event.step;
  if (!telemetry::has_happened(event))
    return;
  ++events;
  std::visit(Taking{*this}, event.body);
  seq = std::max(seq, event.message);
}

bool program_lives(const std::filesystem::path& database, const std::string& uid) {
  const auto note = ProgramFolder(folder_of_program(database, uid)).note();
  return note && ProgramFolder::group_of(*note, uid).leader_lives();
}

bool is_left(const std::filesystem::path& database, const std::string& uid) {
  return ProgramFolder(folder_of_program(database, uid)).note().has_value();
}

std::vector<std::string> left_runs(const std::filesystem::path& database) {
  std::vector<std::string> uids;
  std::error_code ignored;
  std::filesystem::directory_iterator entry(folder_of_program(database, {}), ignored);
  for (; entry != std::filesystem::directory_iterator(); entry.increment(ignored))
    if (ProgramFolder(entry->path()).note())
      uids.push_back(entry->path().filename().string());
  return uids;
}

void tidy_stored(const std::filesystem::path& database, const std::string& uid) {
  ProgramFolder(folder_of_program(database, uid)).tidy();
}

} // namespace batchscope::program
