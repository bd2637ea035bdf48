#include "core/program/detail/program_folder.h"

#include <fstream>
#include <random>

#include <fmt/format.h>

#include "core/base/error.h"
#include "core/base/json.h"
#include "core/base/process_file.h"
#include "core/program/client.h"

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

ProgramFolder ProgramFolder::temporary(std::string& uid) {
  std::random_device random;
  uid = fmt::format("{:08x}{:08x}{:08x}{:08x}", random(), random(), random(), random());
  return ProgramFolder(fs::temp_directory_path() / ("batchscope-run-" + uid));
}

void ProgramFolder::make(const run::ProgramSpec& program) const {
  std::error_code error;
  fs::create_directories(out(), error);
  if (!error)
    fs::permissions(path_, fs::perms::owner_all, error);
  if (!error && program.attach)
    fs::create_directories(python(), error);
  if (error)
    throw Error(Error::Kind::failed, fmt::format("cannot make the folder {}: {}", path_.string(), error.message()));
  if (!program.attach)
    return;
  write_file(python() / "batchscope.py", client_source());
  write_file(python() / "sitecustomize.py", attach_source());
}

void ProgramFolder::tidy(bool stored) const {
  std::error_code ignored;
  if (!stored) {
    fs::remove_all(path_, ignored);
    return;
  }
  fs::remove_all(python(), ignored);
  fs::remove(spill(), ignored);
  fs::remove(path_ / note_name, ignored);
  if (fs::is_empty(out(), ignored))
    fs::remove(out(), ignored);
}

void ProgramFolder::note(pid_t pid, const fs::path& socket) const {
  write_file(
      path_ / note_name,
      json_text(Json{{"pid", pid}, {"started", start_of_process(pid).value_or(0)}, {"socket", socket.string()}}));
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
              .socket = json["socket"].get<std::string>()};
}

std::optional<std::uint64_t> start_of_process(pid_t pid) {
  const auto stat = process_stat(std::to_string(pid));
  return stat ? std::optional(stat->started) : std::nullopt;
}

} // namespace batchscope::program
