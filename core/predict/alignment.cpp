#include "core/predict/alignment.h"

#include <algorithm>
#include <cmath>

namespace batchscope::predict {

namespace {

/// Tolerance for sizes that are rounded on their way to the allocator.
constexpr double slack = 1.02;

/// The same for a square, which nothing else should be taken for.
constexpr double slack_of_square = 1e-3;

/// Lists with more differences than this are unrelated; counting them would take quadratic memory.
constexpr std::int64_t max_differences = 2000;

bool alike(const Allocation& small, const Allocation& large, double batch_ratio) {
  const auto before = static_cast<double>(small.bytes);
  const auto after = static_cast<double>(large.bytes);
  return small.phase == large.phase && ((after * slack >= before && after <= before * batch_ratio * slack) ||
                                        grows_as_square(small.bytes, large.bytes, batch_ratio));
}

/// Furthest position in `small` on each diagonal after each number of differences (Myers' greedy forward search).
using Reach = std::vector<std::int64_t>;

} // namespace

bool grows_as_square(std::uint64_t small, std::uint64_t large, double batch_ratio) {
  const double square = static_cast<double>(small) * batch_ratio * batch_ratio;
  return batch_ratio >= 1.5 && small > 0 && std::abs(static_cast<double>(large) - square) <= slack_of_square * square;
}

std::vector<Allocation> allocations(const telemetry::Trace& trace) {
  std::vector<Allocation> list;
  for (const telemetry::TraceEvent& event : trace.events) {
    if (event.allocates)
      list.push_back({event.phase, event.bytes});
  }
  return list;
}

std::vector<std::size_t> align(const std::vector<Allocation>& small, const std::vector<Allocation>& large,
                               double batch_ratio) {
  const auto n = static_cast<std::int64_t>(small.size());
  const auto m = static_cast<std::int64_t>(large.size());
  const std::int64_t offset = n + m + 1;
  Reach reach(static_cast<std::size_t>(2 * offset + 1), 0);
  std::vector<Reach> history; // diagonals -d..d only
  std::int64_t differences = 0;
  for (bool done = false; !done; ++differences) {
    const std::int64_t d = differences;
    if (d > max_differences)
      return std::vector<std::size_t>(large.size(), no_counterpart);
    history.emplace_back(reach.begin() + offset - d - 1, reach.begin() + offset + d + 2);
    for (std::int64_t k = -d; k <= d && !done; k += 2) {
      const bool down = k == -d || (k != d && reach[offset + k - 1] < reach[offset + k + 1]);
      std::int64_t x = down ? reach[offset + k + 1] : reach[offset + k - 1] + 1;
      while (x < n && x - k < m && x - k >= 0 && alike(small[x], large[x - k], batch_ratio))
        ++x;
      reach[offset + k] = x;
      done = x >= n && x - k >= m;
    }
  }
  std::vector<std::size_t> counterpart(large.size(), no_counterpart);
  std::int64_t x = n, y = m;
  for (std::int64_t d = differences - 1; d >= 0; --d) {
    const Reach& before = history[static_cast<std::size_t>(d)]; // index of diagonal k: k + d + 1
    const std::int64_t k = x - y;
    const bool down = k == -d || (k != d && before[k - 1 + d + 1] < before[k + 1 + d + 1]);
    const std::int64_t from_k = down ? k + 1 : k - 1;
    const std::int64_t from_x = d == 0 ? 0 : before[from_k + d + 1];
    const std::int64_t from_y = d == 0 ? 0 : from_x - from_k;
    const std::int64_t run_start = d == 0 ? 0 : (down ? from_x : from_x + 1);
    while (x > run_start && y > 0) {
      --x;
      --y;
      counterpart[static_cast<std::size_t>(y)] = static_cast<std::size_t>(x);
    }
    x = from_x;
    y = from_y;
  }
  return counterpart;
}

} // namespace batchscope::predict
