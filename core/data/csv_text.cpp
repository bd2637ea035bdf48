#include "core/data/csv_text.h"

#include <algorithm>

#include <fmt/format.h>

#include "core/base/error.h"

namespace batchscope::data {

bool CsvText::at_line_end() const {
  return position_ >= text_.size() || text_[position_] == '\n' ||
         (text_[position_] == '\r' && (position_ + 1 == text_.size() || text_[position_ + 1] == '\n'));
}

void CsvText::skip_line_end() {
  if (position_ < text_.size() && text_[position_] == '\r')
    ++position_;
  if (position_ < text_.size())
    ++position_;
  ++next_line_;
}

bool CsvText::next(std::vector<std::string>& fields) {
  fields.clear();
  while (position_ < text_.size() && at_line_end())
    skip_line_end();
  if (position_ >= text_.size())
    return false;
  line_ = next_line_;
  row_begin_ = position_;
  for (;;) {
    if (text_.substr(position_).starts_with('"')) {
      fields.push_back(quoted_field());
    } else {
      const std::size_t begin = position_;
      while (!at_line_end() && text_[position_] != separator_)
        ++position_;
      fields.emplace_back(text_.substr(begin, position_ - begin));
    }
    if (at_line_end()) {
      skip_line_end();
      return true;
    }
    if (text_[position_] != separator_)
      refuse(fmt::format("field {} has text after its closing quote", fields.size()));
    ++position_;
  }
}

void CsvText::skip_line() {
  position_ = std::min(text_.find('\n', row_begin_), text_.size());
  next_line_ = line_;
  skip_line_end();
}

std::string CsvText::quoted_field() {
  std::string field;
  for (++position_;; ++position_) {
    const std::size_t quote = text_.find('"', position_);
    if (quote == std::string_view::npos)
      refuse("a quote is not closed");
    const std::string_view part = text_.substr(position_, quote - position_);
    next_line_ += std::count(part.begin(), part.end(), '\n');
    field += part;
    position_ = quote + 1;
    if (!text_.substr(position_).starts_with('"'))
      return field;
    field += '"';
  }
}

std::string CsvText::refusal(const std::string& why) const {
  return fmt::format("{}, line {}: {}", path_, line_, why);
}

void CsvText::refuse(const std::string& why) const {
  throw input_error(refusal(why));
}

} // namespace batchscope::data
