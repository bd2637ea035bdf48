#include "core/program/read_files.h"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "core/base/error.h"
#include "core/base/text.h"

namespace batchscope::program {

namespace {

namespace fs = std::filesystem;

std::unique_ptr<exchange::Importer> importer_named(const std::string& name) {
  for (auto& importer : exchange::importers())
    if (importer->name() == name)
      return std::move(importer);
  return nullptr;
}

} // namespace

/// A file or folder, and how far each run in it has been read.
struct ReadFiles::File {
  std::unique_ptr<exchange::Importer> importer;
  fs::path path;
  /// Points of each series by the run's uid and its name.
  std::map<std::pair<std::string, std::string>, std::size_t> taken;
};

ReadFiles::ReadFiles(const std::vector<std::string>& reads, const fs::path& folder) {
  for (const std::string& text : reads) {
    const std::size_t colon = text.find(':');
    std::string kind = text.substr(0, colon);
    std::replace(kind.begin(), kind.end(), '-', '_');
    const bool known = kind == "tensorboard" || kind == "csv" || kind == "trainer_state";
    if (colon == std::string::npos || colon + 1 == text.size() || !known)
      throw input_error(fmt::format("--read: {} is not accepted; accepted: tensorboard:DIR, csv:FILE, "
                                    "trainer-state:DIR",
                                    in_quotes(text)),
                        "program");
    auto file = std::make_unique<File>();
    file->importer = importer_named(kind);
    file->path = folder / text.substr(colon + 1);
    Values before;
    read(*file, true, before);
    files_.push_back(std::move(file));
  }
}

ReadFiles::~ReadFiles() = default;

void ReadFiles::read(File& file, bool ended, Values& values) {
  exchange::ImportedRuns read;
  try {
    if (!file.importer->accepts(file.path))
      return; // not there yet
    const exchange::ImportOptions options{.names = {}, .partial = true, .running = true};
    read = file.importer->read(file.path, options);
  } catch (const std::exception& error) { // also of the file system: a folder may go away while it is read
    problem_ = fmt::format("{}: {}", file.path.string(), error.what());
    return;
  }
  for (const store::CompleteRun& run : read.runs)
    for (const auto& [name, points] : run.series) {
      std::size_t& taken = file.taken[{run.uid, name}];
      if (points.size() < taken)
        taken = 0; // begun anew
      // Several series of a step may be written one after the other.
      const std::size_t end = ended || points.empty() ? points.size() : points.size() - 1;
      for (; taken < end; ++taken)
        values[points[taken].step][name] = points[taken].value;
    }
}

std::vector<telemetry::StepRecord> ReadFiles::poll(bool ended) {
  constexpr std::chrono::seconds interval{1};
  const auto now = std::chrono::steady_clock::now();
  if (files_.empty() || (now < next_ && !ended))
    return {};
  Values values;
  problem_.clear();
  for (const auto& file : files_)
    read(*file, ended, values);
  next_ = std::chrono::steady_clock::now() + interval;

  const auto& known = telemetry::step_series();
  std::vector<telemetry::StepRecord> records;
  for (const auto& [step, series] : values) {
    telemetry::StepRecord record = telemetry::unknown_record(step);
    for (const auto& [name, value] : series) {
      const auto found = std::find(known.begin(), known.end(), name);
      if (found == known.end())
        record.more.emplace_back(name, value);
      else if (name != "step")
        telemetry::set(record, static_cast<std::size_t>(found - known.begin()), value);
    }
    records.push_back(std::move(record));
  }
  return records;
}

} // namespace batchscope::program
