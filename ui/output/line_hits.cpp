#include "ui/output/line_hits.h"

#include <algorithm>

namespace batchscope::ui {

void LineHits::set_text(const QString& text) {
  text_ = text;
  hits_.clear();
}

void LineHits::add(qint64 line, QStringView content) {
  if (text_.isEmpty())
    return;
  for (qsizetype at = content.indexOf(text_, 0, Qt::CaseInsensitive); at >= 0;
       at = content.indexOf(text_, at + text_.size(), Qt::CaseInsensitive))
    hits_.push_back({line, at});
}

void LineHits::drop_from(qint64 line) {
  hits_.erase(first_at({line, 0}), hits_.cend());
}

void LineHits::drop_before(qint64 line) {
  hits_.erase(hits_.cbegin(), first_at({line, 0}));
}

std::deque<LineHits::Hit>::const_iterator LineHits::first_at(const Hit& place) const {
  return std::lower_bound(hits_.cbegin(), hits_.cend(), place);
}

std::optional<std::size_t> LineHits::at_or_after(const Hit& place) const {
  if (hits_.empty())
    return std::nullopt;
  const auto found = first_at(place);
  return found == hits_.cend() ? 0 : static_cast<std::size_t>(found - hits_.cbegin());
}

std::optional<std::size_t> LineHits::before(const Hit& place) const {
  if (hits_.empty())
    return std::nullopt;
  const auto found = first_at(place);
  return static_cast<std::size_t>((found == hits_.cbegin() ? hits_.cend() : found) - hits_.cbegin()) - 1;
}

} // namespace batchscope::ui
