#include "core/program/process/detail/program_folder.h"

#include <fstream>

#include <fmt/format.h>

#include "core/base/error.h"
#include "core/base/file_output.h"
#include "core/base/json.h"
#include "core/program/process/client.h"

namespace batchscope::program {

namespace {

namespace fs = std::filesystem;

constexpr const char* note_name = "process.json";

void write_file(const fs::path& file, std::string_view text) {
  std::ofstream stream(file, std::ios::binary | std::ios::trunc);
  stream.write(text.data(), static_cast<std::streamsize>(text.size()));
  stream.flush();
  if (!stream)
    throw Error(Error::Kind::failed, fmt::format("cannot write {}", file.string()));
}

} // namespace

void ProgramFolder::make(const Needs& needs) const {
  std::error_code error;
  fs::create_directories(out(), error);
  if (!error)
    fs::permissions(path_, fs::perms::owner_all, error);
  if (!error && needs.client)
    fs::create_directories(python(), error);
  if (!error && needs.trial)
    fs::create_directories(temporary(), error);
  if (error)
    throw Error(Error::Kind::failed, fmt::format("cannot make the folder {}: {}", path_.string(), error.message()));
  if (!needs.client)
    return;
  write_file(python() / "batchscope.py", client_source());
  write_file(python() / "sitecustomize.py", attach_source());
}

void ProgramFolder::tidy() const {
  std::error_code ignored;
  fs::remove_all(python(), ignored);
  fs::remove_all(thrown_away(), ignored);
  fs::remove(spill(), ignored);
  fs::remove(path_ / note_name, ignored);
  if (fs::is_empty(out(), ignored))
    fs::remove(out(), ignored);
}

void ProgramFolder::write_note(const Note& note) const {
  FileOutput file(path_ / note_name, true); // whole at any time: this process may be killed
  file.stream() << json_text(
      Json{{"pid", note.pid}, {"started", note.started}, {"socket", note.socket.string()}, {"reads", note.reads}});
  file.publish();
}

std::optional<ProgramFolder::Note> ProgramFolder::note() const {
  std::ifstream stream(path_ / note_name, std::ios::binary);
  const std::string text{std::istreambuf_iterator<char>(stream), {}};
  const Json json = parse_json_or_discard(text);
  if (!json.is_object() || !json.value("pid", Json()).is_number_integer() ||
      !json.value("started", Json()).is_number_unsigned() || !json.value("socket", Json()).is_string())
    return std::nullopt;
  return Note{.pid = json["pid"].get<pid_t>(),
              .started = json["started"].get<std::uint64_t>(),
              .socket = json["socket"].get<std::string>(),
              .reads = json.value("reads", Json())};
}

ProcessGroup ProgramFolder::group_of(const Note& note, const std::string& uid) {
  if (note.pid != 0)
    return ProcessGroup(note.pid, note.started, uid);
  return ProcessGroup::find(uid).value_or(ProcessGroup(0, 0, uid));
}

} // namespace batchscope::program
