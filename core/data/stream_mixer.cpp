#include "core/data/stream_mixer.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

namespace batchscope::data {

namespace {

__extension__ using Wide = __int128;

/// Adds 1 to the counts of the `number` candidates with the largest remainders; of equal ones the first.
void give_to_largest(std::vector<std::size_t> candidates, const std::vector<std::int64_t>& remainders,
                     std::int64_t number, std::vector<std::int64_t>& counts) {
  std::stable_sort(candidates.begin(), candidates.end(),
                   [&](std::size_t a, std::size_t b) { return remainders[a] > remainders[b]; });
  candidates.resize(std::min(candidates.size(), static_cast<std::size_t>(std::max<std::int64_t>(number, 0))));
  for (const std::size_t stream : candidates)
    ++counts[stream];
}

} // namespace

std::vector<std::int64_t> exact_shares(const std::vector<double>& fractions) {
  const double sum = std::accumulate(fractions.begin(), fractions.end(), 0.0);
  std::vector<std::int64_t> shares;
  std::vector<std::int64_t> remainders;
  std::vector<std::size_t> candidates;
  for (std::size_t stream = 0; stream < fractions.size(); ++stream) {
    const double exact = fractions[stream] / sum * static_cast<double>(share_unit);
    const double whole = std::floor(exact);
    shares.push_back(static_cast<std::int64_t>(whole));
    remainders.push_back(static_cast<std::int64_t>((exact - whole) * static_cast<double>(share_unit)));
    if (fractions[stream] > 0)
      candidates.push_back(stream);
  }
  give_to_largest(candidates, remainders, share_unit - std::accumulate(shares.begin(), shares.end(), std::int64_t{0}),
                  shares);
  return shares;
}

StreamMixer::StreamMixer(std::vector<std::int64_t> shares, std::size_t clock)
    : shares_(std::move(shares)), carried_(shares_.size(), 0), clock_(clock) {}

std::int64_t StreamMixer::capacity(std::int64_t left) const {
  if (left < 1)
    return 0;
  // The largest total with total * share < (left + 1) * unit: the whole part of the clock's share is then `left`.
  const Wide total = ((static_cast<Wide>(left) + 1) * share_unit - 1) / shares_[clock_];
  return static_cast<std::int64_t>(std::min<Wide>(total, std::numeric_limits<std::int64_t>::max()));
}

std::vector<std::int64_t> StreamMixer::split(std::int64_t total, std::int64_t left) {
  const std::int64_t wholes = total / share_unit;
  const std::int64_t rest = total % share_unit;
  std::vector<std::int64_t> counts;
  std::vector<std::int64_t> remainders;
  std::int64_t given = 0;
  for (const std::int64_t share : shares_) {
    counts.push_back(wholes * share + rest * share / share_unit);
    remainders.push_back(rest * share % share_unit);
    given += counts.back();
  }
  std::vector<std::size_t> candidates;
  bool capped = false;
  for (std::size_t stream = 0; stream < shares_.size(); ++stream) {
    if (remainders[stream] == 0)
      continue;
    if (stream == clock_ && counts[stream] >= left)
      capped = true;
    else
      candidates.push_back(stream);
  }
  std::vector<std::int64_t> due = carried_;
  for (std::size_t stream = 0; stream < shares_.size(); ++stream)
    due[stream] += remainders[stream];
  const std::vector<std::int64_t> before = counts;
  give_to_largest(candidates, due, total - given, counts);
  if (!capped)
    for (std::size_t stream = 0; stream < shares_.size(); ++stream)
      carried_[stream] = due[stream] - (counts[stream] - before[stream]) * share_unit;
  return counts;
}

} // namespace batchscope::data
