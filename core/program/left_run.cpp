#include "core/program/left_run.h"

#include <algorithm>

#include "core/base/json.h"
#include "core/program/detail/process.h"
#include "core/program/detail/program_folder.h"

namespace batchscope::program {

namespace {

std::optional<std::int64_t> integer_of(const Json& detail, const char* field) {
  const auto found = detail.find(field);
  if (found == detail.end() || !found->is_number_integer())
    return std::nullopt;
  return found->get<std::int64_t>();
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
  } else if (event.kind == "status") {
    paused = detail.value("status", Json()) == Json("paused");
  }
  seq = std::max(seq, integer_of(detail, "seq").value_or(0));
}

bool program_lives(const std::filesystem::path& database, const std::string& uid) {
  const auto note = ProgramFolder(folder_of_program(database, uid)).note();
  return note && start_of_process(note->pid) == note->started && Process::left(note->pid).has_value();
}

bool is_left(const std::filesystem::path& database, const std::string& uid) {
  return ProgramFolder(folder_of_program(database, uid)).note().has_value();
}

} // namespace batchscope::program
