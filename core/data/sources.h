#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/data/dataset.h"
#include "core/data/file_text.h"

namespace batchscope::data {

/// The parts of a `--data` text. A part `key=value` whose key the kind knows is a parameter; all other parts are file
/// names.
struct SourceText {
  std::string text; ///< as it was given
  std::string kind;
  std::vector<std::string> files;
  std::vector<std::pair<std::string, std::string>> parameters;
  double validation = 0.2; ///< 0..0.9

  /// Null if the key was not given.
  const std::string* find(std::string_view key) const;
  /// Throws Error (input) "data 'TEXT': why".
  [[noreturn]] void refuse(const std::string& why) const;
};

/// The layout of examples without a length: images, table rows.
BatchLayout layout_without_length(std::span<const std::int64_t> indices);

/// Examples that are rows of tokens; the targets are the next tokens.
class TokenRows : public Dataset {
public:
  void fill_tokens(std::span<const std::int64_t> indices, std::int64_t length, std::int64_t* tokens) const final;
  void fill_labels(std::span<const std::int64_t> indices, std::int64_t length, std::int64_t* labels) const final;

private:
  /// Writes `length` numbers per example: its tokens from index `ahead` (0 or 1) on, then `padding`.
  virtual void fill(std::span<const std::int64_t> indices, std::int64_t length, std::int64_t ahead,
                    std::int64_t padding, std::int64_t* to) const = 0;
};

/// A stream of a `--data` text and its examples.
struct StreamData {
  std::string name;
  DataSplit split;
};

/// All streams as one data set. Throws Error (input) if their examples have different forms.
DataSplit mix_streams(const std::vector<StreamData>& streams);

/// How a file of a kind is chosen.
struct FileChoice {
  const char* title;    ///< `CSV files`
  const char* patterns; ///< of names, in any case: `*.csv`; several have spaces between them
  /// See text_for_file(); null: `KIND:FILE`. Does not throw.
  FileText (*text_for)(const std::string& file) = nullptr;
};

/// A kind of data. A new one is a file that defines a DataKind and a line in kinds.def.
struct DataKind {
  const char* name;                     ///< how a text begins: `csv`
  const char* form;                     ///< in help and messages, without `validation`
  const char* more = "";                ///< what help says besides
  std::size_t files = 0;                ///< number of file names, or of folders
  std::vector<std::string_view> keys{}; ///< of the parameters, besides `validation`
  bool lengths_vary = false;            ///< whether one example may have more tokens than another
  /// Throws as open_data() does.
  DataSplit (*open)(const SourceText& source, const DataOptions& options) = nullptr;
  /// All files that open() reads; null: those that the text names. Does not throw.
  std::vector<std::string> (*list)(const SourceText& source) = nullptr;
  std::optional<FileChoice> choice{}; ///< nothing: no file of it is chosen
};

const std::vector<const DataKind*>& data_kinds(); ///< in the order of kinds.def

} // namespace batchscope::data
