#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace batchscope::data {

/// The `--data` text for a file that the user chose.
struct FileText {
  std::string text;
  std::string problem; ///< what the user still has to enter or choose; empty if nothing
};

/// Reads no more than is needed: the first lines of a table, the directory of an archive, the names beside the file.
/// `wanted`: the kind for a file whose name does not tell it; empty for `text`. Throws nothing. Any thread.
FileText text_for_file(const std::string& file, const std::string& wanted = {});

/// The kind that a `--data` text begins with, if it is one whose files are chosen; else empty.
std::string file_kind(std::string_view text);

/// The files of a kind, for a dialog.
struct FileFilter {
  std::string kind;     ///< `csv`
  std::string title;    ///< `CSV files`
  std::string patterns; ///< `*.csv`; several have spaces between them
};
std::vector<FileFilter> file_filters();

} // namespace batchscope::data
