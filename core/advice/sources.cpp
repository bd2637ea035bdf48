#include "core/advice/sources.h"

#include <fstream>

#include <fmt/format.h>

#include "core/base/error.h"
#include "core/base/resources.h"
#include "core/base/text.h"

namespace batchscope::advice {

namespace {

std::vector<std::string> cells_of(const std::string& line) {
  std::vector<std::string> cells;
  std::size_t start = 0;
  for (std::size_t tab = line.find('\t'); tab != std::string::npos; tab = line.find('\t', start)) {
    cells.push_back(line.substr(start, tab - start));
    start = tab + 1;
  }
  cells.push_back(line.substr(start));
  return cells;
}

std::vector<Source> read_sources() {
  std::vector<Source> all;
  for (const TableRow& row : read_table("sources").rows)
    all.push_back(
        {.key = row.at("key"), .name = row.at("name"), .title = row.at("title"), .address = row.at("address")});
  return all;
}

} // namespace

const std::vector<Source>& sources() {
  static const std::vector<Source> all = read_sources();
  return all;
}

std::string cite(const std::string& key, const std::string& section) {
  for (const Source& source : sources())
    if (source.key == key)
      return section.empty() ? source.name : fmt::format("{}, {}", source.name, section);
  throw Error(Error::Kind::failed, fmt::format("the table of sources has no {}", in_quotes(key)));
}

std::string address_of(std::string_view citation) {
  for (const Source& source : sources())
    if (citation == source.name || citation.starts_with(source.name + ", "))
      return source.address;
  return {};
}

Table read_table(const std::string& name) {
  const auto path = resources_folder() / "advice" / (name + ".tsv");
  std::ifstream file(path);
  std::string line;
  if (!file || !std::getline(file, line))
    throw Error(Error::Kind::failed, "the table of advice cannot be read: " + path.string());
  Table table{.titles = cells_of(line)};
  while (std::getline(file, line)) {
    if (line.empty())
      continue;
    const std::vector<std::string> cells = cells_of(line);
    if (cells.size() != table.titles.size())
      throw Error(Error::Kind::failed, fmt::format("{} is damaged: {}", path.string(), in_quotes(line)));
    TableRow& row = table.rows.emplace_back();
    for (std::size_t i = 0; i < cells.size(); ++i)
      row[table.titles[i]] = cells[i];
  }
  return table;
}

} // namespace batchscope::advice
