#include "core/program/run/left_run.h"

#include <algorithm>

#include "core/base/json.h"
#include "core/program/process/detail/program_folder.h"

namespace batchscope::program {

namespace {

std::optional<std::int64_t> integer_of(const Json& detail, const char* field) {
  const auto found = detail.find(field);
  if (found == detail.end() || !found->is_number_integer())
    return std::nullopt;
  return found->get<std::int64_t>();
}

std::optional<int> exit_number_of(const Json& detail, const char* field) {
  const auto number = integer_of(detail, field);
  return number ? std::optional(static_cast<int>(*number)) : std::nullopt;
}

std::optional<LeftRun::End> end_of(const Json& detail) {
  const std::string status = text_member(detail, "status");
  for (const auto known : {telemetry::RunStatus::finished, telemetry::RunStatus::stopped, telemetry::RunStatus::failed,
                           telemetry::RunStatus::interrupted})
    if (status == telemetry::to_string(known))
      return LeftRun::End{
          .exit = {.code = exit_number_of(detail, "exit_code"), .signal = exit_number_of(detail, "signal")},
          .status = known,
          .reason = text_member(detail, "reason")};
  return std::nullopt;
}

std::optional<schedule::PlanEdit> edit_of(const Json& detail) {
  const auto schedule = detail.find("schedule");
  const auto from = integer_of(detail, "applies_from_step");
  if (detail.contains("refused") || schedule == detail.end() || !schedule->is_string() || !from)
    return std::nullopt;
  return schedule::PlanEdit{
      .after_step = *from - 1, .schedule = schedule->get<std::string>(), .batch = integer_of(detail, "batch")};
}

} // namespace

void LeftRun::take(const telemetry::StepRecord& record) {
  progress.take(record);
  step = record.step;
}

void LeftRun::take(const telemetry::Event& event) {
  progress.take(event);
  for (const auto& [name, value] : event.values)
    last_steps[name] = event.step;
  if (event.kind.empty())
    return;
  ++events;
  const Json detail = parse_json_or_discard(event.detail_json);
  if (!detail.is_object())
    return;
  if (event.kind == "program") {
    const std::int64_t connected = integer_of(detail, "pid").value_or(0);
    if (std::exchange(pid, connected) != connected)
      seq = 0;
  } else if (event.kind == "edit") {
    if (auto edit = edit_of(detail))
      edits.push_back(*std::move(edit));
  } else if (event.kind == "budget" && !detail.contains("refused")) {
    if (const auto bytes = integer_of(detail, "budget_bytes"); bytes && *bytes > 0)
      budget = static_cast<std::uint64_t>(*bytes);
  } else if (event.kind == "exit") {
    end = end_of(detail);
  } else if (event.kind == "bye") {
    bye = Bye{.status = text_member(detail, "status"), .reason = text_member(detail, "reason")};
  } else if (event.kind == "status") {
    paused = detail.value("status", Json()) == Json("paused");
  }
  seq = std::max(seq, integer_of(detail, "seq").value_or(0));
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
