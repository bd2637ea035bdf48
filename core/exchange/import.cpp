#include "core/exchange/import.h"

#include <fmt/format.h>

#include "core/base/error.h"
#include "core/store/run_store.h"

namespace batchscope::exchange {

#define IMPORTER(name) std::unique_ptr<Importer> name##_importer();
#include "core/exchange/importers.def"
#undef IMPORTER

std::vector<std::unique_ptr<Importer>> importers() {
  std::vector<std::unique_ptr<Importer>> all;
#define IMPORTER(name) all.push_back(name##_importer());
#include "core/exchange/importers.def"
#undef IMPORTER
  return all;
}

std::unique_ptr<Importer> importer_of(const std::filesystem::path& path) {
  std::error_code ignored;
  if (!std::filesystem::exists(path, ignored))
    throw input_error(path.string() + ": no such file or folder");
  if (!std::filesystem::is_regular_file(path, ignored) && !std::filesystem::is_directory(path, ignored))
    throw input_error(path.string() + ": is neither a regular file nor a folder");
  std::string accepted;
  for (auto& importer : importers()) {
    if (importer->accepts(path))
      return std::move(importer);
    accepted += (accepted.empty() ? "" : ", ") + importer->title();
  }
  throw input_error(fmt::format("{}: not a file that can be imported; accepted: {}", path.string(), accepted));
}

ImportedRuns read_runs_of(const std::filesystem::path& path, const ImportOptions& options) {
  const auto importer = importer_of(path);
  try {
    ImportedRuns read = importer->read(path, options);
    if (read.runs.empty() && !options.partial)
      throw input_error("has no runs with values");
    return read;
  } catch (const Error& error) {
    const std::string what = error.what();
    throw input_error(what.starts_with(path.string()) ? what : fmt::format("{}: {}", path.string(), what));
  }
}

void ImportedRuns::add(ImportedRuns others) {
  for (store::CompleteRun& run : others.runs) {
    if (run.sweep)
      *run.sweep += sweeps.size();
    runs.push_back(std::move(run));
  }
  sweeps.insert(sweeps.end(), others.sweeps.begin(), others.sweeps.end());
  remarks.insert(remarks.end(), others.remarks.begin(), others.remarks.end());
}

ImportResult store_runs(const ImportedRuns& read, store::RunStore& store) {
  ImportResult result;
  for (const auto& [id, added, extended] : store.add_complete(read.runs, read.sweeps)) {
    (added ? result.imported : result.known).push_back(id);
    if (extended)
      result.extended.push_back(id);
  }
  return result;
}

} // namespace batchscope::exchange
