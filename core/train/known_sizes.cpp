#include "core/train/detail/known_sizes.h"

#include <algorithm>
#include <array>
#include <cmath>

namespace batchscope::train {

namespace {

/// Factor on a predicted size after it failed, by the number of failures before.
constexpr std::array<double, 3> after_a_miss = {0.95, 0.8, 0.5};
/// Bisecting between fitted and failed sizes ends when the gap is this fraction of the fitted size.
constexpr double narrow_enough = 0.125;

double volume(std::int64_t count, std::int64_t length) {
  return static_cast<double>(count) * static_cast<double>(length);
}

} // namespace

void KnownSizes::out_of_memory(std::int64_t count, std::int64_t length) {
  std::erase_if(failed_, [&](const Size& size) { return size.count >= count && size.length >= length; });
  if (!known_not_to_fit(count, length))
    failed_.push_back({count, length});
  const double failed = volume(count, length);
  if (part_ && failed > *part_) {
    // Larger than the estimate for parts, so this says nothing about parts.
    if (alone_ && failed <= *alone_)
      alone_ = part_;
    return;
  }
  if (from_prediction_) {
    const double left = after_a_miss[static_cast<std::size_t>(std::min<int>(misses_++, after_a_miss.size() - 1))];
    trust_ *= left;
    part_ = alone_ = failed * left;
  } else {
    fitted_ = fitted_ < failed ? fitted_ : 0;
    part_ = alone_ = std::max(failed / 2, fitted_);
  }
}

void KnownSizes::predicted(std::int64_t alone, std::int64_t part, std::int64_t length) {
  alone_ = trust_ * volume(alone, length);
  part_ = trust_ * volume(part, length);
  from_prediction_ = true;
  misses_ = 0;
}

void KnownSizes::fitted(std::int64_t count, std::int64_t length, bool alone) {
  misses_ = 0;
  for (Size& size : failed_) // larger ones that had failed, too, have been left out of the list
    if (count >= size.count && length >= size.length)
      size.count = count + 1;
  // More than was expected may have been tried.
  for (auto* expected : {&part_, &alone_})
    if (*expected && (expected == &alone_ || !alone))
      *expected = std::max(**expected, volume(count, length));
  if (failed_.empty() || from_prediction_)
    return;
  fitted_ = std::max(fitted_, volume(count, length));
  const std::int64_t failed = smallest_failed(INT64_MAX, length);
  if (failed == INT64_MAX)
    return;
  const double gap = volume(failed, length) - fitted_;
  part_ = alone_ = gap > narrow_enough * fitted_ ? fitted_ + gap / 2 : fitted_;
}

void KnownSizes::forget() {
  *this = KnownSizes();
}

bool KnownSizes::known_not_to_fit(std::int64_t count, std::int64_t length) const {
  return std::any_of(failed_.begin(), failed_.end(),
                     [&](const Size& size) { return count >= size.count && length >= size.length; });
}

/// For micro batches of this length; `none` if no count is known to fail.
std::int64_t KnownSizes::smallest_failed(std::int64_t none, std::int64_t length) const {
  std::int64_t smallest = none;
  for (const Size& size : failed_) {
    if (length >= size.length)
      smallest = std::min(smallest, size.count);
  }
  return smallest;
}

std::int64_t KnownSizes::largest_part(std::int64_t count, std::int64_t length) const {
  const std::int64_t below_failed = smallest_failed(count + 1, length) - 1;
  const auto within = [&](double largest) {
    return static_cast<std::int64_t>(std::min(largest / static_cast<double>(length), static_cast<double>(count)));
  };
  if (alone_ && count <= below_failed && within(*alone_) >= count)
    return count;
  return std::max<std::int64_t>(part_ ? std::min(below_failed, within(*part_)) : below_failed, 1);
}

std::int64_t KnownSizes::parts(std::int64_t count, std::int64_t length) const {
  const std::int64_t largest = largest_part(count, length);
  return (count + largest - 1) / largest;
}

} // namespace batchscope::train
