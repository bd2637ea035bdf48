#include "core/data/file_text.h"

#include <algorithm>
#include <filesystem>
#include <sstream>

#include <fnmatch.h>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "core/data/sources.h"

namespace batchscope::data {

namespace {

constexpr const char* default_kind = "text";

const DataKind* kind_of_files(std::string_view name) {
  const auto& kinds = data_kinds();
  const auto found = std::find_if(kinds.begin(), kinds.end(),
                                  [&](const DataKind* kind) { return kind->choice && name == kind->name; });
  return found == kinds.end() ? nullptr : *found;
}

bool matches(const std::string& file, const std::string& patterns) {
  const std::string name = std::filesystem::path(file).filename();
  std::istringstream stream(patterns);
  for (std::string pattern; stream >> pattern;)
    if (::fnmatch(pattern.c_str(), name.c_str(), FNM_CASEFOLD) == 0)
      return true;
  return false;
}

/// A name's ending, which the later kinds have, says more than a part of it. Null for plain text, which may be of
/// several kinds.
const DataKind* kind_by_name(const std::string& file) {
  const auto& kinds = data_kinds();
  const auto found = std::find_if(kinds.rbegin(), kinds.rend(), [&](const DataKind* kind) {
    return kind->choice && matches(file, kind->choice->patterns);
  });
  return found == kinds.rend() || (*found)->choice->text_for == nullptr ? nullptr : *found;
}

} // namespace

FileText text_for_file(const std::string& file, const std::string& wanted) {
  const DataKind* kind = kind_by_name(file);
  if (kind == nullptr)
    kind = kind_of_files(wanted);
  if (kind == nullptr)
    kind = kind_of_files(default_kind);
  FileText result = kind->choice->text_for != nullptr ? kind->choice->text_for(file)
                                                      : FileText{fmt::format("{}:{}", kind->name, file), {}};
  if (file.find(',') != std::string::npos)
    result.problem = "File names with a comma are not supported here";
  return result;
}

std::string file_kind(std::string_view text) {
  const DataKind* kind = kind_of_files(text.substr(0, text.find(':')));
  return kind == nullptr ? std::string() : kind->name;
}

std::vector<FileFilter> file_filters() {
  std::vector<FileFilter> filters;
  for (const DataKind* kind : data_kinds())
    if (kind->choice)
      filters.push_back({kind->name, kind->choice->title, kind->choice->patterns});
  return filters;
}

} // namespace batchscope::data
