#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace batchscope::schedule {

/// Consecutive steps of a plan with one batch size.
struct PlanSegment {
  std::int64_t first_step = 1;
  std::int64_t steps = 1;
  std::int64_t batch = 1; ///< nominal; the rounded mean if `exact` is false
  bool exact = true;      ///< false: several sizes were merged to limit the number of segments
};

/// Summarizes the batch sizes of a plan in segments. If there are more segments than wanted, it computes the staircase
/// closest to the plan: least squares of batch sizes, summed over steps. A ramp of constant slope becomes steps of
/// equal width; jumps stay where they are. Memory and time stop growing at a thousand stretches of equal batch size (or
/// twice the number wanted, if that is more).
class Outline {
public:
  /// `most`: the largest number of segments, at least 1.
  explicit Outline(std::size_t most);

  /// Adds the next step. Steps must be added in order.
  void add(std::int64_t step, std::int64_t batch);
  std::vector<PlanSegment> segments() const;

private:
  /// Consecutive steps, merged as far as necessary.
  struct Cell {
    std::int64_t first_step = 1;
    std::int64_t steps = 0;
    std::int64_t batch = 1; ///< of all steps, if exact
    double sum = 0;         ///< of the batch sizes over all steps
    bool exact = true;

    double mean() const { return sum / static_cast<double>(steps); }
  };

  static void join(Cell& cell, const Cell& next);
  static double cost_of_joining(const Cell& cell, const Cell& next);
  /// Merges the pairs of neighbours that differ least: at most `excess` pairs, fewer if pairs overlap.
  static void join_cheapest(std::vector<Cell>& cells, std::size_t excess);
  static std::vector<std::size_t> best_borders(const std::vector<Cell>& cells, std::size_t segments);

  std::size_t most_;
  std::vector<Cell> cells_;
};

} // namespace batchscope::schedule
