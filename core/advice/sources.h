#pragma once

#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace batchscope::advice {

/// A document or paper that an advice is from: a row of resources/advice/sources.tsv.
struct Source {
  std::string key;     ///< `tradeoffs`, `goyal-2017`
  std::string name;    ///< as a reference in a table: `Goyal et al. (2017)`
  std::string title;   ///< in full
  std::string address; ///< `https://arxiv.org/abs/1706.02677`; empty if it has none
};

/// All sources, read once. Throws Error (failed) if the file is missing or damaged, as do the functions below.
const std::vector<Source>& sources();

/// `Batch Size and Memory Tradeoffs, pattern 2`; the name alone for an empty section. Throws Error (failed) for an
/// unknown key.
std::string cite(const std::string& key, const std::string& section = {});

/// Where the source is that a text of cite() names; empty if it has no address or the text is none of cite().
std::string address_of(std::string_view citation);

/// A row of a table: a text for each title.
using TableRow = std::map<std::string, std::string>;

/// A table of resources/advice.
struct Table {
  std::vector<std::string> titles; ///< in the order of the columns
  std::vector<TableRow> rows;
};

/// Reads resources/advice/NAME.tsv: tabs between the cells, which have neither tabs nor line breaks, and titles in the
/// first line. Throws Error (failed) for a file that cannot be read and for a line with another number of cells.
Table read_table(const std::string& name);

} // namespace batchscope::advice
