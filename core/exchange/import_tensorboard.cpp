#include <algorithm>
#include <fstream>

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

/// `train/loss` is the series loss, `validation/loss` (also val and eval) validation_loss; other tags keep their name.
std::string series_of_tag(const std::string& tag, const ImportOptions& options) {
  if (const auto given = options.names.find(tag); given != options.names.end())
    return given->second;
  if (tag.starts_with("train/"))
    return tag.substr(6);
  for (const char* prefix : {"validation/", "val/", "eval/"})
    if (tag.starts_with(prefix))
      return "validation_" + tag.substr(std::string_view(prefix).size());
  return tag;
}

store::CompleteRun run_of(const fs::path& folder, const std::vector<fs::path>& files, const ImportOptions& options) {
  // The first record of the first file has the time at which the run was begun.
  constexpr std::size_t header = 40;
  detail::ImportedRun run("tensorboard", folder,
                          files.front().filename().string() + detail::first_bytes(files.front(), header));
  std::optional<double> started;
  for (const fs::path& file : files) {
    std::ifstream in(file, std::ios::binary);
    detail::EventReader(in).read([&](const detail::ScalarEvent& event) {
      started = std::min(started.value_or(event.wall_time), event.wall_time);
      const std::string series = series_of_tag(event.tag, options);
      run.add(series, event.step, event.value);
      if (series == "loss")
        run.add("seconds", event.step, event.wall_time - *started);
    });
  }
  if (started)
    run.set_started(*started);
  return run.finish();
}

class TensorBoardImporter final : public Importer {
public:
  std::string name() const override { return "tensorboard"; }
  std::string title() const override { return "TensorBoard event files or a folder of them"; }

  bool accepts(const fs::path& path) const override {
    std::error_code ignored;
    return fs::is_directory(path, ignored) ? !event_files(path).empty() : is_event_file(path);
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
    if (read.runs.empty())
      throw input_error("has no scalars");
    return read;
  }
};

} // namespace

std::unique_ptr<Importer> tensorboard_importer();
std::unique_ptr<Importer> tensorboard_importer() {
  return std::make_unique<TensorBoardImporter>();
}

} // namespace batchscope::exchange
