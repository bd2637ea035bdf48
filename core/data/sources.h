#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/data/dataset.h"

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

/// One function per kind; open_data() selects one by name. They throw as open_data() does.
DataSplit open_demo(const SourceText& source);
DataSplit open_idx(const SourceText& source);
DataSplit open_text(const SourceText& source, const DataOptions& options);
DataSplit open_lines(const SourceText& source, const DataOptions& options);
DataSplit open_csv(const SourceText& source);
DataSplit open_synthetic(const SourceText& source, const DataOptions& options);

} // namespace batchscope::data
