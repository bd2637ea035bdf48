#include <algorithm>
#include <exception>
#include <fstream>
#include <map>
#include <utility>

#include "core/base/error.h"
#include "core/exchange/detail/event_file.h"
#include "core/exchange/detail/imported_run.h"
#include "core/exchange/import.h"

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

store::CompleteRun run_of(const fs::path& folder, const std::vector<fs::path>& files, const ImportOptions& options) {
  // The first record of the first file has the time at which the run was begun.
  constexpr std::size_t header = 40;
  detail::ImportedRun run("tensorboard", folder,
                          files.front().filename().string() + detail::first_bytes(files.front(), header),
                          store::CompleteRun::Update::replace); // resumed training repeats steps
  std::optional<double> started;
  for (const fs::path& file : files) {
    std::ifstream in(file, std::ios::binary);
    detail::EventReader(in).read([&](const detail::ScalarEvent& event) {
      started = std::min(started.value_or(event.wall_time), event.wall_time);
      const std::string series = detail::series_name(event.tag, options);
      run.add(series, event.step, event.value);
      if (detail::is_training_loss(series))
        run.add("seconds", event.step, event.wall_time - *started);
    });
  }
  if (started)
    run.set_started(*started);
  return run.finish(options);
}

/// Event files are only appended to.
class EventFilesFollower final : public SeriesFollower {
public:
  explicit EventFilesFollower(fs::path path) : path_(std::move(path)) {}

  /// A damaged file keeps no other from being read.
  bool poll(const AddedPointSink& take, bool /*ended*/) override {
    bool more = false;
    std::exception_ptr damage;
    for (const fs::path& file : event_files(path_)) {
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
  void go_on(const Json& position) override {
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
    std::ifstream in(file, std::ios::binary);
    detail::EventReader reader(in, begin);
    const std::string folder = file.parent_path().string();
    while (read - begin < most_bytes &&
           reader.read_record([&](const detail::ScalarEvent& event) { give(folder, event, take); }))
      read = reader.position();
    return read - begin >= most_bytes && read < size;
  }

  /// The event files of one folder are one run. Its loss is the first series that can be.
  void give(const std::string& folder, const detail::ScalarEvent& event, const AddedPointSink& take) {
    const std::string series = detail::series_name(event.tag, {});
    if (!detail::is_training_loss(series))
      return take({series, event.step, event.value});
    const std::string& loss = losses_.try_emplace(folder, series).first->second;
    take({series == loss ? "loss" : series, event.step, event.value});
  }

  const fs::path path_;
  std::map<std::string, std::uint64_t> read_; ///< bytes of each file
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

  /// The event files of one folder are one run.
  ImportedRuns read(const fs::path& path, const ImportOptions& options) const override {
    std::map<fs::path, std::vector<fs::path>> folders;
    for (const fs::path& file : event_files(path))
      folders[fs::absolute(file).parent_path()].push_back(file);
    ImportedRuns read;
    for (const auto& [folder, files] : folders)
      if (store::CompleteRun run = run_of(folder, files, options); !run.series.empty())
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
