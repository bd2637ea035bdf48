#include "ui/plot/detail/view.h"

#include <algorithm>
#include <cmath>

namespace batchscope::ui {

double to_place(double value, bool log) {
  return log ? std::log(value) : value;
}

double to_value(double place, bool log) {
  return log ? std::exp(place) : place;
}

namespace {

/// A range that begins slightly above zero is extended to zero; one without width gets some.
Range rounded(Range range, bool log, bool real) {
  constexpr double just = 0.02;
  auto [from, to] = range;
  if (!log && from > 0 && from <= just * to)
    from = 0;
  if (to > from)
    return {from, to};
  if (log)
    return {from / 2, from * 2};
  const double around = real ? std::max(std::abs(from) * 0.1, 1e-9) : 1;
  return {from - around, from + around};
}

} // namespace

void View::set_full(const std::optional<Range>& full, double newest) {
  full_ = full ? rounded(*full, log_, values_ == XValues::real) : log_ ? Range(1, 10) : Range(0, 1);
  newest_ = std::clamp(newest, full_.first, full_.second);
  if (all_) {
    range_ = full_;
  } else if (following_) {
    const double width = to_place(range_.second, log_) - to_place(range_.first, log_);
    put(to_place(newest_, log_) - width, width);
  }
}

void View::set_log(bool log) {
  if (log == log_)
    return;
  log_ = log;
  show_all();
}

void View::set_following(bool following) {
  following_ = following;
  if (!following)
    all_ = false;
}

void View::show_all() {
  all_ = true;
  following_ = true;
  range_ = full_;
}

void View::show(double from, double to) {
  if (from > to)
    std::swap(from, to);
  if (!std::isfinite(from) || !std::isfinite(to) || !(to > from) || (log_ && from <= 0))
    return;
  if (from <= full_.first && to >= full_.second)
    return show_all();
  all_ = false;
  following_ = false;
  range_ = {from, to};
}

void View::zoom(double factor, double around) {
  const double from = to_place(range_.first, log_);
  const double to = to_place(range_.second, log_);
  const double width = std::max((to - from) * factor, min_width());
  const double all = to_place(full_.second, log_) - to_place(full_.first, log_);
  constexpr double nearly = 0.999;
  if (width >= nearly * all)
    return show_all();
  const double middle = std::clamp(to_place(around, log_), from, to);
  const double left = (middle - from) / (to - from);
  all_ = false;
  following_ = false;
  put(middle - left * width, width);
}

void View::move(const Range& start, double fraction) {
  const double from = to_place(start.first, log_);
  const double to = to_place(start.second, log_);
  const Range before = range_;
  put(from + fraction * (to - from), to - from);
  if (range_ == before)
    return;
  all_ = false;
  following_ = false;
}

void View::put(double from, double width) {
  const double first = to_place(full_.first, log_);
  const double last = to_place(full_.second, log_);
  if (width >= last - first) {
    range_ = full_;
    return;
  }
  from = std::clamp(from, first, last - width);
  range_ = {to_value(from, log_), to_value(from + width, log_)};
}

double View::min_width() const {
  if (log_)
    return 0.02;
  const double digits = 1e-10 * std::max(std::abs(range_.first), std::abs(range_.second));
  return std::max({digits, 1e-12, values_ == XValues::real ? 0.0 : 2.0});
}

} // namespace batchscope::ui
