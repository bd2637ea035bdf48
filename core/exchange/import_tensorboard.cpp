#include <algorithm>
#include <exception>
#include <fstream>
#include <map>
#include <set>
#include <utility>

#include <fmt/format.h>

#include "core/base/error.h"
#include "core/exchange/detail/event_file.h"
#include "core/exchange/detail/event_log.h"
#include "core/exchange/detail/imported_run.h"
#include "core/exchange/import.h"
#include "core/store/run_store.h"

namespace batchscope::exchange {

namespace {

namespace fs = std::filesystem;

bool is_event_file(const fs::path& path) {
  return path.filename().string().find("tfevents") != std::string::npos;
}

/// The event files of a folder and those below it, in the order of their names, which begin with their time.
std::vector<fs::path> event_files(const fs::path& path) {
  std::vector<fs::path> files;
  std::error_code ignored;
  if (!fs::is_directory(path, ignored))
    return {path};
  for (const auto& entry : fs::recursive_directory_iterator(path, ignored))
    if (entry.is_regular_file(ignored) && is_event_file(entry.path()))
      files.push_back(entry.path());
  std::sort(files.begin(), files.end());
  return files;
}

/// The event files of a folder, and what they hold.
struct EventFolder {
  std::vector<fs::path> files;
  detail::EventLog log;
};
using EventFolders = std::map<fs::path, EventFolder>; ///< by absolute paths

/// Reads all files below a path. One that is damaged costs itself and a remark, unless no other can be read.
EventFolders read_folders(const fs::path& path, std::vector<std::string>& remarks) {
  EventFolders folders;
  std::exception_ptr damage;
  for (const fs::path& file : event_files(path)) {
    const fs::path folder = fs::absolute(file).lexically_normal().parent_path();
    EventFolder& known = folders[folder];
    try {
      known.log.read(file);
      known.files.push_back(file);
    } catch (const Error& error) {
      damage = damage ? damage : std::current_exception();
      remarks.push_back(fmt::format("{}: {}; it was left out", file.string(), error.what()));
    }
  }
  std::erase_if(folders, [](const auto& folder) { return folder.second.files.empty(); });
  if (folders.empty() && damage)
    std::rethrow_exception(damage);
  for (const auto& [folder, known] : folders) {
    remarks.insert(remarks.end(), known.log.remarks().begin(), known.log.remarks().end());
    if (known.log.dropped() > 0)
      remarks.push_back(fmt::format("{}: values of steps that a restart made again were left out: {}", folder.string(),
                                    known.log.dropped()));
  }
  return folders;
}

/// Whether all values in a folder are those of add_scalars() of the run in a folder above it.
bool has_parts_of_run(const fs::path& folder, const fs::path& run, const detail::EventLog& log) {
  const auto& scalars = log.scalars();
  const fs::path relative = folder.lexically_relative(run);
  return !scalars.empty() && std::all_of(scalars.begin(), scalars.end(), [&](const auto& series) {
    return detail::tag_in_run(relative, series.first).has_value();
  });
}

/// Folders whose values and settings belong to the run of a folder above them, by that folder.
std::multimap<fs::path, fs::path> parts_of_runs(const EventFolders& folders) {
  std::multimap<fs::path, fs::path> parts;
  std::multimap<fs::path, fs::path> sessions; // of add_hparams(), which makes a folder for its settings and results
  std::set<fs::path> runs;                    // a folder comes before those below it
  for (const auto& [folder, known] : folders) {
    const auto run = detail::folder_above(folder, runs);
    if (run && has_parts_of_run(folder, *run, known.log)) {
      parts.emplace(*run, folder);
      continue;
    }
    if (run && !known.log.hparams().empty() && !folders.at(*run).log.scalars().empty())
      sessions.emplace(*run, folder);
    runs.insert(folder);
  }
  for (const auto& [run, folder] : sessions)
    if (sessions.count(run) == 1 && !sessions.contains(folder) && !parts.contains(folder))
      parts.emplace(run, folder); // several are the results of a search, each a run
  return parts;
}

void add_scalars(detail::ImportedRun& run, const std::string& tag, const std::vector<detail::EventLog::Point>& points,
                 double started, const ImportOptions& options) {
  const std::string series = detail::series_name(tag, options);
  const bool times = detail::is_training_loss(series);
  for (const auto& [step, value, wall_time] : points) {
    run.add(series, step, value);
    if (times)
      run.add("seconds", step, wall_time - started);
  }
}

/// Adds the values and settings of a folder below the run's.
void add_part(detail::ImportedRun& run, const fs::path& relative, const detail::EventLog& log, double started,
              const ImportOptions& options) {
  run.add_settings(log.hparams());
  for (const auto& [tag, points] : log.scalars()) {
    std::string own = detail::tag_in_run(relative, tag).value_or(tag);
    if (run.has(detail::series_name(own, options))) // the run has logged it itself, too
      own = tag + "/" + relative.generic_string();
    add_scalars(run, own, points, started, options);
  }
}

store::CompleteRun run_of(const fs::path& folder, const EventFolders& folders,
                          const std::multimap<fs::path, fs::path>& parts, const ImportOptions& options) {
  // The first record of the first file has the time at which the run was begun.
  constexpr std::size_t header = 40;
  const EventFolder& own = folders.at(folder);
  const fs::path& first = own.files.front();
  detail::ImportedRun run("tensorboard", folder, first.filename().string() + detail::first_bytes(first, header),
                          store::CompleteRun::Update::replace); // resumed training repeats steps
  if (own.log.started())
    run.set_started(*own.log.started());
  run.add_settings(own.log.hparams());
  const double started = own.log.started().value_or(0);
  for (const auto& [tag, points] : own.log.scalars())
    add_scalars(run, tag, points, started, options);
  const auto [begin, end] = parts.equal_range(folder);
  bool failed = own.log.has_failed();
  for (auto part = begin; part != end; ++part) {
    const detail::EventLog& log = folders.at(part->second).log;
    failed = failed || log.has_failed();
    add_part(run, part->second.lexically_relative(folder), log,
             log.started() && !own.log.started() ? *log.started() : started, options);
  }
  if (failed) // success is written at the start by many programs
    run.set_status(telemetry::RunStatus::failed, "failed, according to TensorBoard");
  return run.empty() ? store::CompleteRun() : run.finish(options);
}

/// Event files are only appended to.
class EventFilesFollower final : public SeriesFollower {
public:
  explicit EventFilesFollower(fs::path path) : path_(std::move(path)) {}

  /// A damaged file keeps no other from being read.
  bool poll(const AddedPointSink& take, bool /*ended*/) override {
    bool more = false;
    std::exception_ptr damage;
    const std::vector<fs::path> files = event_files(path_);
    for (const fs::path& file : files)
      folders_.insert(file.parent_path());
    for (const fs::path& file : files) {
      try {
        more = read_some(file, take) || more;
      } catch (const Error&) {
        damage = damage ? damage : std::current_exception();
      }
    }
    if (damage)
      std::rethrow_exception(damage);
    return more;
  }

  Json position() const override { return read_; }
  void resume(const Json& position) override {
    read_.clear();
    for (const auto& [file, bytes] : position.items())
      if (bytes.is_number_unsigned())
        read_[file] = bytes.get<std::uint64_t>();
  }

private:
  bool read_some(const fs::path& file, const AddedPointSink& take) {
    constexpr std::uint64_t most_bytes = 4 << 20;
    std::error_code error;
    const std::uint64_t size = fs::file_size(file, error);
    if (error)
      return false; // not there yet
    std::uint64_t& read = read_[file.string()];
    if (size == read)
      return false;
    if (size < read)
      read = 0; // written anew
    const std::uint64_t begin = read;
    std::ifstream in = detail::opened(file);
    detail::EventReader reader(in, begin);
    const detail::EventSink sink{
        .scalar = [&](const detail::ScalarEvent& event) { give(file.parent_path(), event, take); },
        .restart = {},
        .hparams = {}};
    while (read - begin < most_bytes && reader.read_record(sink))
      read = reader.position();
    return read - begin >= most_bytes && read < size;
  }

  /// The event files of one folder are one run. Its loss is the first series that can be.
  void give(fs::path folder, const detail::ScalarEvent& event, const AddedPointSink& take) {
    std::string tag = event.tag;
    if (const auto run = detail::folder_above(folder, folders_))
      if (const auto own = detail::tag_in_run(folder.lexically_relative(*run), tag)) {
        tag = *own;
        folder = *run;
      }
    const std::string series = detail::series_name(tag, {});
    if (!detail::is_training_loss(series))
      return take({series, event.step, event.value});
    const std::string& loss = losses_.try_emplace(folder.string(), series).first->second;
    take({series == loss ? "loss" : series, event.step, event.value});
  }

  const fs::path path_;
  std::map<std::string, std::uint64_t> read_; ///< bytes of each file
  std::set<fs::path> folders_;                ///< with event files
  std::map<std::string, std::string> losses_; ///< by folder
};

class TensorBoardImporter final : public Importer {
public:
  std::string name() const override { return "tensorboard"; }
  std::string title() const override { return "TensorBoard event files or a folder of them"; }

  bool accepts(const fs::path& path) const override {
    std::error_code ignored;
    return fs::is_directory(path, ignored) ? !event_files(path).empty() : is_event_file(path);
  }

  std::unique_ptr<SeriesFollower> follow(const fs::path& path) const override {
    return std::make_unique<EventFilesFollower>(path);
  }

  /// The event files of one folder are one run, with those of folders that are a part of it.
  ImportedRuns read(const fs::path& path, const ImportOptions& options) const override {
    ImportedRuns read;
    const EventFolders folders = read_folders(path, read.remarks);
    const auto parts = parts_of_runs(folders);
    std::set<fs::path> of_others;
    for (const auto& [run, part] : parts)
      of_others.insert(part);
    for (const auto& [folder, known] : folders)
      if (!of_others.contains(folder))
        if (store::CompleteRun run = run_of(folder, folders, parts, options); !run.series.empty())
          read.runs.push_back(std::move(run));
    return read;
  }
};

} // namespace

std::unique_ptr<Importer> tensorboard_importer();
std::unique_ptr<Importer> tensorboard_importer() {
  return std::make_unique<TensorBoardImporter>();
}

} // namespace batchscope::exchange
