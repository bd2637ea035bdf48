#include "core/program/process/detail/child_start.h"

#include <cstdlib>

#include <fmt/format.h>

#include "core/program/process/command.h"

namespace batchscope::program {

namespace {

/// The folder with the client in front of what the program would have had.
std::string python_path(const Surroundings& surroundings, const ProgramFolder& folder) {
  const char* inherited = std::getenv("PYTHONPATH");
  std::string rest = inherited ? inherited : "";
  for (const auto& [name, value] : surroundings.environment)
    if (name == "PYTHONPATH")
      rest = value;
  return rest.empty() ? folder.python().string() : fmt::format("{}:{}", folder.python().string(), rest);
}

ChildStart child_start(const run::RunSpec& spec, const Surroundings& surroundings, const run::RunPlace& place,
                       const ProgramFolder& folder, const Link& link) {
  const run::ProgramSpec& program = *spec.program;
  ChildStart start{.command = filled_command(program, filling_of(spec, place, folder.out())),
                   .folder = program.folder,
                   .environment = surroundings.environment,
                   .output = folder.output(),
                   .token = place.uid,
                   .data_limit = program.attach ? std::nullopt : spec.memory_budget,
                   .returns_freed_memory = surroundings.returns_freed_memory || spec.memory_budget.has_value(),
                   .reads_input = surroundings.reads_input};
  start.environment.emplace_back("BATCHSCOPE_SOCKET", link.path().string());
  start.environment.emplace_back("BATCHSCOPE_RUN", place.uid);
  start.environment.emplace_back("BATCHSCOPE_SPILL", folder.spill().string());
  if (program.attach) {
    start.environment.emplace_back("BATCHSCOPE_ATTACH", "auto");
    if (const auto seed = sent_seed(spec))
      start.environment.emplace_back("BATCHSCOPE_SEED", std::to_string(*seed));
  }
  if (surroundings.throws_away) {
    start.environment.emplace_back("BATCHSCOPE_TRIAL", folder.thrown_away().string());
    start.environment.emplace_back("TMPDIR", folder.temporary().string());
  }
  if (program.attach || surroundings.throws_away)
    start.environment.emplace_back("PYTHONPATH", python_path(surroundings, folder));
  return start;
}

} // namespace

std::unique_ptr<Child> start_child(const run::RunSpec& spec, const Surroundings& surroundings,
                                   const run::RunPlace& place, const ProgramFolder& folder, const Link& link,
                                   const Json& reads) {
  folder.make({.client = spec.program->attach || surroundings.throws_away, .trial = surroundings.throws_away});
  const ChildStart start = child_start(spec, surroundings, place, folder, link);
  ProgramFolder::Note note{.socket = link.path(), .reads = reads};
  folder.write_note(note);
  auto child = std::make_unique<Child>(start);
  note.pid = child->pid();
  note.started = child->group().started();
  folder.write_note(note);
  return child;
}

} // namespace batchscope::program
