#include "core/checkpoint/folder.h"

#include <algorithm>
#include <charconv>
#include <optional>
#include <string_view>
#include <system_error>

#include <fmt/format.h>

#include "core/base/error.h"

namespace batchscope::checkpoint {

namespace {

namespace fs = std::filesystem;

constexpr std::string_view prefix = "step-";
constexpr std::string_view ending = ".safetensors";
constexpr std::size_t uid_length = 32;

fs::path folder_of_database(const fs::path& database) {
  fs::path folder = database;
  folder += "-checkpoints";
  return folder;
}

/// The entries of a folder; none if it cannot be read.
std::vector<fs::directory_entry> entries(const fs::path& folder) {
  std::error_code ignored;
  std::vector<fs::directory_entry> all;
  for (fs::directory_iterator entry(folder, ignored), end; !ignored && entry != end; entry.increment(ignored))
    all.push_back(*entry);
  return all;
}

std::optional<std::int64_t> step_in(const std::string& name) {
  if (!name.starts_with(prefix) || !name.ends_with(ending) || name.size() <= prefix.size() + ending.size())
    return std::nullopt;
  const std::string_view digits =
      std::string_view(name).substr(prefix.size(), name.size() - prefix.size() - ending.size());
  std::int64_t step = 0;
  const auto parsed = std::from_chars(digits.data(), digits.data() + digits.size(), step);
  return parsed.ec == std::errc() && parsed.ptr == digits.data() + digits.size() && step >= 0 ? std::optional(step)
                                                                                              : std::nullopt;
}

bool is_uid(const std::string& name) {
  return name.size() == uid_length && name.find_first_not_of("0123456789abcdef") == std::string::npos;
}

} // namespace

fs::path folder_of_run(const fs::path& database, const std::string& uid) {
  return folder_of_database(database) / uid;
}

fs::path file_of_step(const fs::path& folder, std::int64_t step) {
  return folder / fmt::format("{}{}{}", prefix, step, ending);
}

std::vector<File> files_in(const fs::path& folder) {
  std::vector<File> files;
  for (const auto& entry : entries(folder))
    if (const auto step = step_in(entry.path().filename().string()))
      files.push_back({entry.path(), *step});
  std::sort(files.begin(), files.end(), [](const File& a, const File& b) { return a.step > b.step; });
  return files;
}

void remove_unfinished(const fs::path& folder) {
  std::error_code ignored;
  for (const auto& entry : entries(folder))
    if (entry.path().filename().string().ends_with(".unfinished"))
      fs::remove(entry.path(), ignored);
}

Orphans orphans(const fs::path& database, const std::set<std::string>& runs) {
  Orphans found;
  for (const auto& folder : entries(folder_of_database(database))) {
    const std::string name = folder.path().filename().string();
    std::error_code ignored;
    if (!is_uid(name) || runs.contains(name) || !folder.is_directory(ignored))
      continue;
    found.folders.push_back(folder.path());
    for (const auto& file : entries(folder.path())) {
      const std::uint64_t bytes = file.file_size(ignored);
      ++found.files;
      found.bytes += ignored ? 0 : bytes;
    }
  }
  std::sort(found.folders.begin(), found.folders.end());
  return found;
}

void remove(const Orphans& orphans) {
  for (const fs::path& folder : orphans.folders) {
    std::error_code problem;
    fs::remove_all(folder, problem);
    if (problem)
      throw Error(Error::Kind::failed, fmt::format("{}: cannot be removed: {}", folder.string(), problem.message()));
  }
}

} // namespace batchscope::checkpoint
