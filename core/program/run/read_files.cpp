#include "core/program/run/read_files.h"

#include <algorithm>
#include <iterator>
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

telemetry::StepRecord record_of(std::int64_t step, const std::map<std::string, double>& series) {
  const auto& known = telemetry::step_series();
  telemetry::StepRecord record = telemetry::unknown_record(step);
  for (const auto& [name, value] : series) {
    const auto found = std::find(known.begin(), known.end(), name);
    if (found == known.end())
      record.more.emplace_back(name, value);
    else if (name != "step")
      telemetry::set(record, static_cast<std::size_t>(found - known.begin()), value);
  }
  return record;
}

} // namespace

/// A file or folder, and what was read of it and not given yet.
struct ReadFiles::File {
  std::unique_ptr<exchange::Importer> importer;
  fs::path path;
  std::unique_ptr<exchange::SeriesFollower> follower;
  Values values;
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
    file->follower = file->importer->follow(file->path);
    files_.push_back(std::move(file));
  }
}

ReadFiles::~ReadFiles() = default;
ReadFiles::ReadFiles(ReadFiles&&) noexcept = default;

void ReadFiles::skip_present() {
  for (const auto& file : files_) {
    read(*file, true);
    file->values.clear();
  }
}

Json ReadFiles::position() const {
  Json positions = Json::array();
  for (const auto& file : files_)
    positions.push_back(file->follower->position());
  return positions;
}

void ReadFiles::resume(const Json& position) {
  if (!position.is_array() || position.size() != files_.size())
    return;
  for (std::size_t i = 0; i < files_.size(); ++i)
    files_[i]->follower->resume(position[i]);
}

/// Whether there is more to read.
bool ReadFiles::read(File& file, bool ended) {
  const auto take = [&](const exchange::AddedPoint& point) {
    if (point.step >= 0)
      file.values[point.step][point.series] = point.value;
  };
  try {
    bool more = false;
    do
      more = file.follower->poll(take, ended);
    while (more && ended);
    return more;
  } catch (const std::exception& error) { // also of the file system: a folder may go away while it is read
    problem_ = fmt::format("{}: {}", file.path.string(), error.what());
    return false;
  }
}

std::vector<telemetry::StepRecord> ReadFiles::poll(bool ended) {
  constexpr std::chrono::seconds interval{1};
  if (files_.empty() || (std::chrono::steady_clock::now() < next_ && !more_ && !ended))
    return {};
  Values values;
  problem_.clear();
  more_ = false;
  for (const auto& file : files_) {
    more_ = read(*file, ended) || more_;
    // Several series of a step may be written one after the other.
    const auto last = ended || file->values.empty() ? file->values.end() : std::prev(file->values.end());
    for (auto each = file->values.begin(); each != last; each = file->values.erase(each))
      values[each->first].merge(each->second);
  }
  next_ = std::chrono::steady_clock::now() + interval;

  std::vector<telemetry::StepRecord> records;
  for (const auto& [step, series] : values)
    records.push_back(record_of(step, series));
  return records;
}

} // namespace batchscope::program
