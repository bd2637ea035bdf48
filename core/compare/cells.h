#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "core/compare/answer.h"
#include "core/compare/table.h"

namespace batchscope::compare {

/// The table of a comparison as texts, for a terminal, Markdown or a page: the run, the settings in which runs differ,
/// what they came to.
struct Cells {
  struct Column {
    std::string title;
    bool numeric = true; ///< right-aligned
  };
  std::vector<Column> header;
  std::vector<std::vector<std::string>> rows;
  std::vector<std::vector<std::optional<double>>> numbers; ///< of the same cells, to sort by; nothing for texts
};

/// `baseline`: the run that the others are compared with, in a column after each result. `all_columns`: also what is
/// the same in all of them.
Cells cells_of(const Comparison& comparison, const std::optional<std::size_t>& baseline, bool all_columns);

/// The same with a row for each setting, best first: in what they differ, how many runs, what they came to for the
/// goal, mean throughput and highest peak memory, of those that count.
Cells cells_of(const Comparison& comparison, const Answer& answer);

/// The answer and the table, to paste into an issue or a paper.
std::string markdown(const Cells& cells, const Answer& answer);

} // namespace batchscope::compare
