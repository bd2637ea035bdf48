// `text:` and `lines:`: spans of one row of tokens; the targets are the next tokens.
#include <algorithm>

#include <fmt/format.h>

#include "core/base/error.h"
#include "core/data/characters.h"
#include "core/data/input_file.h"
#include "core/data/sources.h"
#include "core/data/split.h"

namespace batchscope::data {

namespace {

/// One example: `length` inputs from `begin` on, and as many targets from `begin + 1` on.
struct Span {
  std::int64_t begin = 0;
  std::int64_t length = 0;
};

class TokenDataset : public TokenRows {
public:
  TokenDataset(std::shared_ptr<const Characters> characters, std::vector<Span> spans, std::int64_t longest)
      : characters_(std::move(characters)), spans_(std::move(spans)) {
    shape_.input = ExampleShape::Input::tokens;
    shape_.target = ExampleShape::Target::next_token;
    shape_.dimensions = {longest};
    shape_.vocabulary = static_cast<std::int64_t>(characters_->vocabulary.size());
  }

  std::int64_t size() const override { return static_cast<std::int64_t>(spans_.size()); }
  const ExampleShape& shape() const override { return shape_; }
  const std::vector<char32_t>* vocabulary() const override { return &characters_->vocabulary; }
  BatchLayout layout(std::span<const std::int64_t> indices) const override {
    BatchLayout layout;
    layout.count = static_cast<std::int64_t>(indices.size());
    for (const std::int64_t index : indices) {
      const std::int64_t length = spans_[static_cast<std::size_t>(index)].length;
      layout.length = std::max(layout.length, length);
      layout.loss_terms += length;
    }
    return layout;
  }

private:
  void fill(std::span<const std::int64_t> indices, std::int64_t length, std::int64_t ahead, std::int64_t padding,
            std::int64_t* to) const override {
    for (const std::int64_t index : indices) {
      const Span& span = spans_[static_cast<std::size_t>(index)];
      const std::uint16_t* from = characters_->tokens.data() + span.begin + ahead;
      std::fill(std::copy(from, from + span.length, to), to + length, padding);
      to += length;
    }
  }

  std::shared_ptr<const Characters> characters_;
  std::vector<Span> spans_;
  ExampleShape shape_;
};

/// The windows of `context` tokens within begin..end; each needs one more token for its last target.
std::vector<Span> windows(std::int64_t begin, std::int64_t end, std::int64_t context) {
  std::vector<Span> spans;
  for (std::int64_t i = begin; i + context < end; i += context)
    spans.push_back({i, context});
  return spans;
}

DataSplit make_parts(std::shared_ptr<const Characters> characters, std::vector<Span> train,
                     std::vector<Span> validation, std::int64_t longest) {
  DataSplit result;
  result.train = std::make_shared<TokenDataset>(characters, std::move(train), longest);
  if (!validation.empty())
    result.validation = std::make_shared<TokenDataset>(characters, std::move(validation), longest);
  return result;
}

/// Normalizes line breaks: no carriage returns, no empty lines, one newline at the end.
std::string tidy_lines(const std::string& text) {
  std::string tidy;
  tidy.reserve(text.size() + 1);
  for (std::size_t begin = 0; begin < text.size();) {
    const std::size_t end = std::min(text.find('\n', begin), text.size());
    std::size_t length = end - begin;
    while (length > 0 && text[begin + length - 1] == '\r')
      --length;
    if (length > 0)
      tidy.append(text, begin, length) += '\n';
    begin = end + 1;
  }
  return tidy;
}

std::vector<Span> line_spans(const Characters& characters, std::int64_t context) {
  const auto newline =
      static_cast<std::uint16_t>(std::lower_bound(characters.vocabulary.begin(), characters.vocabulary.end(), U'\n') -
                                 characters.vocabulary.begin());
  std::vector<Span> spans;
  std::int64_t begin = 0;
  for (std::size_t i = 0; i < characters.tokens.size(); ++i) {
    if (characters.tokens[i] != newline)
      continue;
    const std::int64_t end = static_cast<std::int64_t>(i);
    spans.push_back({begin, std::min(end - begin, context)});
    begin = end + 1;
  }
  return spans;
}

} // namespace

namespace {

DataSplit open_text(const SourceText& source, const DataOptions& options) {
  const std::string& path = source.files[0];
  const auto characters = std::make_shared<const Characters>(number_characters(read_text_file(path), path));
  const auto count = static_cast<std::int64_t>(characters->tokens.size());
  const std::int64_t border = count - held_out(count, source.validation);
  std::vector<Span> train = windows(0, border, options.context);
  if (train.empty())
    throw input_error(fmt::format("{}: {} training characters; a context of {} needs at least {}", path, border,
                                  options.context, options.context + 1));
  return make_parts(characters, std::move(train), windows(border, count, options.context), options.context);
}

} // namespace

extern const DataKind text_data;
const DataKind text_data{.name = "text",
                         .form = "text:FILE",
                         .files = 1,
                         .open = open_text,
                         .choice = FileChoice{"Text files", "*.txt *.md"}};

namespace {

DataSplit open_lines(const SourceText& source, const DataOptions& options) {
  const std::string& path = source.files[0];
  const std::string raw = read_text_file(path);
  check_utf8(raw, path); // on the original text, so that the offset in a message is the file's
  const std::string text = tidy_lines(raw);
  if (text.empty())
    throw input_error(fmt::format("{}: only empty lines; one line with characters is needed", path));
  const auto characters = std::make_shared<const Characters>(number_characters(text, path));
  const std::vector<Span> all = line_spans(*characters, options.context);
  const Split split = draw_split(static_cast<std::int64_t>(all.size()), source.validation);
  std::int64_t longest = 0;
  for (const Span& span : all)
    longest = std::max(longest, span.length);
  const auto pick = [&](const std::vector<std::int64_t>& rows) {
    std::vector<Span> spans;
    for (const std::int64_t row : rows)
      spans.push_back(all[static_cast<std::size_t>(row)]);
    return spans;
  };
  return make_parts(characters, pick(split.train), pick(split.validation), longest);
}

} // namespace

extern const DataKind lines_data;
const DataKind lines_data{.name = "lines",
                          .form = "lines:FILE",
                          .files = 1,
                          .lengths_vary = true,
                          .open = open_lines,
                          .choice = FileChoice{"Lines of text", "*.txt *.md"}};

} // namespace batchscope::data
