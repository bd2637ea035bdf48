#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace batchscope::schedule {

/// A stretch of the plan with one batch size.
struct PlanSegment {
  std::int64_t first_step = 1;
  std::int64_t steps = 1;
  std::int64_t batch = 1; ///< nominal; the mean, rounded, where `exact` is false
  bool exact = true;      ///< false: several sizes were put together to keep the number of segments in bounds
};

/// Stretches of equal batch size, and where there are more than wanted the staircase that stays closest to them: the
/// least squares of batch sizes, summed over steps. A ramp of even slope becomes steps of even width, a jump stays
/// where it is. Memory and time do not grow with the number of stretches beyond a thousand (or twice the number
/// wanted).
class Outline {
public:
  /// At most so many segments; at least 1.
  explicit Outline(std::size_t most);

  /// The next step. Steps come one after the other.
  void add(std::int64_t step, std::int64_t batch);
  std::vector<PlanSegment> segments() const;

private:
  /// Neighbouring steps, put together as far as had to be.
  struct Cell {
    std::int64_t first_step = 1;
    std::int64_t steps = 0;
    std::int64_t batch = 1; ///< of all steps, while exact
    double sum = 0;         ///< of the batch sizes over the steps
    bool exact = true;

    double mean() const { return sum / static_cast<double>(steps); }
  };

  static void join(Cell& cell, const Cell& next);
  static double cost_of_joining(const Cell& cell, const Cell& next);
  /// Puts those neighbours together that differ least, `excess` pairs or fewer, where pairs overlap.
  static void join_cheapest(std::vector<Cell>& cells, std::size_t excess);
  static std::vector<std::size_t> best_borders(const std::vector<Cell>& cells, std::size_t segments);

  std::size_t most_;
  std::vector<Cell> cells_;
};

} // namespace batchscope::schedule
