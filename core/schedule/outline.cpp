#include "core/schedule/outline.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace batchscope::schedule {

namespace {

/// Number of cells for the search of the best staircase, whose time grows with its square.
constexpr std::size_t max_cells = 512;

} // namespace

Outline::Outline(std::size_t most) : most_(std::max<std::size_t>(most, 1)) {}

void Outline::add(std::int64_t step, std::int64_t batch) {
  if (!cells_.empty() && cells_.back().exact && cells_.back().batch == batch) {
    ++cells_.back().steps;
    cells_.back().sum += static_cast<double>(batch);
    return;
  }
  const std::size_t enough = std::max(max_cells, most_);
  if (cells_.size() >= 2 * enough)
    join_cheapest(cells_, enough);
  cells_.push_back({step, 1, batch, static_cast<double>(batch), true});
}

void Outline::join(Cell& cell, const Cell& next) {
  cell.steps += next.steps;
  cell.sum += next.sum;
  cell.exact = false;
}

/// Increase of the sum of squares.
double Outline::cost_of_joining(const Cell& cell, const Cell& next) {
  const double a = static_cast<double>(cell.steps);
  const double b = static_cast<double>(next.steps);
  const double difference = cell.mean() - next.mean();
  return a * b / (a + b) * difference * difference;
}

void Outline::join_cheapest(std::vector<Cell>& cells, std::size_t excess) {
  std::vector<double> costs(cells.size() - 1);
  for (std::size_t i = 0; i < costs.size(); ++i)
    costs[i] = cost_of_joining(cells[i], cells[i + 1]);
  std::vector<double> sorted = costs;
  const auto bound = sorted.begin() + static_cast<std::ptrdiff_t>(excess - 1);
  std::nth_element(sorted.begin(), bound, sorted.end());
  std::size_t kept = 0;
  for (std::size_t i = 0; i < cells.size(); ++i, ++kept) {
    cells[kept] = cells[i];
    if (excess > 0 && i < costs.size() && costs[i] <= *bound) {
      join(cells[kept], cells[++i]);
      --excess;
    }
  }
  cells.resize(kept);
}

/// Start indices of the closest staircase's segments, by dynamic programming over the number of segments. A longer last
/// segment never costs less, which ends most searches early.
std::vector<std::size_t> Outline::best_borders(const std::vector<Cell>& cells, std::size_t segments) {
  const std::size_t count = cells.size();
  double whole_steps = 0, whole_sum = 0;
  for (const Cell& cell : cells) {
    whole_steps += static_cast<double>(cell.steps);
    whole_sum += cell.sum;
  }
  const double centre = whole_sum / whole_steps; // differences from it keep the squares small
  std::vector<double> steps(count + 1, 0), sums(count + 1, 0), squares(count + 1, 0);
  for (std::size_t i = 0; i < count; ++i) {
    const double width = static_cast<double>(cells[i].steps);
    const double height = cells[i].mean() - centre;
    steps[i + 1] = steps[i] + width;
    sums[i + 1] = sums[i] + width * height;
    squares[i + 1] = squares[i] + width * height * height;
  }
  const auto cost = [&](std::size_t first, std::size_t end) {
    const double sum = sums[end] - sums[first];
    return std::max(0.0, squares[end] - squares[first] - sum * sum / (steps[end] - steps[first]));
  };
  std::vector<double> before(count + 1), best(count + 1);
  for (std::size_t end = 1; end <= count; ++end)
    before[end] = cost(0, end);
  std::vector<std::vector<std::size_t>> begins(segments, std::vector<std::size_t>(count + 1, 0));
  for (std::size_t number = 1; number < segments; ++number) {
    for (std::size_t end = number + 1; end <= count; ++end) {
      best[end] = std::numeric_limits<double>::infinity();
      for (std::size_t begin = end - 1; begin >= number; --begin) {
        const double last = cost(begin, end);
        if (last > best[end])
          break;
        if (before[begin] + last < best[end]) {
          best[end] = before[begin] + last;
          begins[number][end] = begin;
        }
      }
    }
    before.swap(best);
  }
  std::vector<std::size_t> borders(segments, 0);
  for (std::size_t number = segments, end = count; number-- > 0; end = borders[number])
    borders[number] = begins[number][end];
  return borders;
}

std::vector<PlanSegment> Outline::segments() const {
  std::vector<Cell> cells = cells_;
  const std::size_t enough = std::max(max_cells, most_);
  while (cells.size() > enough)
    join_cheapest(cells, cells.size() - enough);
  if (cells.size() > most_) {
    std::vector<Cell> joined;
    std::size_t next_border = 0;
    const std::vector<std::size_t> borders = best_borders(cells, most_);
    for (std::size_t i = 0; i < cells.size(); ++i) {
      if (next_border < borders.size() && borders[next_border] == i) {
        joined.push_back(cells[i]);
        ++next_border;
      } else {
        join(joined.back(), cells[i]);
      }
    }
    cells.swap(joined);
  }
  std::vector<PlanSegment> segments;
  segments.reserve(cells.size());
  for (const Cell& cell : cells)
    segments.push_back({cell.first_step, cell.steps, cell.exact ? cell.batch : std::llround(cell.mean()), cell.exact});
  return segments;
}

} // namespace batchscope::schedule
