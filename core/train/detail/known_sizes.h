#pragma once

#include <cstdint>
#include <optional>
#include <vector>

namespace batchscope::train {

/// What a run has learnt about sizes that do not fit. A micro batch of `count` examples padded to `length` (1 where
/// examples have no length) is known not to fit when one that was no larger in either did not.
///
/// Sizes below the smallest that failed are guessed: from a prediction where there is one, else by halving what failed
/// and then narrowing the gap between what fitted and what did not. A guess that fails is made smaller faster and
/// faster. Memory is taken to grow with the count times the length.
class KnownSizes {
public:
  /// A micro batch ran out of memory.
  void out_of_memory(std::int64_t count, std::int64_t length);
  /// The largest sizes predicted to fit, at this length: `alone` as the only micro batch of a step, `part` as one of
  /// several. 0 where none does.
  void predicted(std::int64_t alone, std::int64_t part, std::int64_t length);
  /// A step came through whose largest micro batch had this size.
  void fitted(std::int64_t count, std::int64_t length);
  /// Memory has come back: nothing is known any more.
  void forget();

  bool empty() const { return failed_.empty(); }
  bool known_not_to_fit(std::int64_t count, std::int64_t length) const;
  /// The fewest parts, as even as can be, that are thought to fit, none of them known not to; `count` parts at most.
  std::int64_t parts(std::int64_t count, std::int64_t length) const;

private:
  struct Size {
    std::int64_t count, length;
  };
  std::int64_t smallest_failed(std::int64_t count, std::int64_t length) const;
  std::int64_t largest_part(std::int64_t count, std::int64_t length) const;

  std::vector<Size> failed_; ///< none of them covers another
  /// Largest count times length of a part that is thought to fit, and of a whole step of one micro batch.
  std::optional<double> part_, alone_;
  bool from_prediction_ = false;
  double trust_ = 1;  ///< share of a prediction that is believed; below 1 after it was wrong
  int misses_ = 0;    ///< guesses in a row that failed
  double fitted_ = 0; ///< largest count times length that came through
};

} // namespace batchscope::train
