#pragma once

#include <cstdint>
#include <optional>
#include <vector>

namespace batchscope::train {

/// Micro batches that a run knows not to fit. A micro batch of `count` examples padded to `length` (1 if examples have
/// no length) is known not to fit if one that was no larger in either dimension did not.
///
/// Sizes below the smallest failed one are estimated: from a prediction if there is one, else by halving the failed
/// size and then bisecting between sizes that fitted and sizes that did not. Each failed estimate shrinks the next one
/// more. Memory is assumed to grow with count times length.
class KnownSizes {
public:
  /// A micro batch ran out of memory.
  void out_of_memory(std::int64_t count, std::int64_t length);
  /// The largest sizes predicted to fit at this length: `alone` as the only micro batch of a step, `part` as one of
  /// several. 0 if none fits.
  void predicted(std::int64_t alone, std::int64_t part, std::int64_t length);
  /// A step succeeded whose largest micro batch had this size, `alone` or as one of several. If it was known not to
  /// fit, only larger ones are so from now on.
  void fitted(std::int64_t count, std::int64_t length, bool alone);
  /// Memory is available again: forgets everything.
  void forget();

  bool empty() const { return failed_.empty(); }
  bool known_not_to_fit(std::int64_t count, std::int64_t length) const;
  /// The fewest parts, of sizes as even as possible, that are expected to fit, none of them known not to; at most
  /// `count` parts.
  std::int64_t parts(std::int64_t count, std::int64_t length) const;

  /// For checkpoints (core/base/json_fields.h).
  template <typename Io> friend void fields(Io& io, typename Io::template Of<KnownSizes>& known) {
    io.rows("failed", known.failed_, &Size::count, &Size::length);
    io("part", known.part_);
    io("alone", known.alone_);
    io("from_prediction", known.from_prediction_);
    io("trust", known.trust_);
    io("misses", known.misses_);
    io("fitted", known.fitted_);
  }

private:
  struct Size {
    std::int64_t count, length;
  };
  std::int64_t smallest_failed(std::int64_t count, std::int64_t length) const;
  std::int64_t largest_part(std::int64_t count, std::int64_t length) const;

  std::vector<Size> failed_; ///< none is implied by another
  /// Largest count times length expected to fit: of a part, and of a step of one micro batch.
  std::optional<double> part_, alone_;
  bool from_prediction_ = false;
  double trust_ = 1;  ///< factor on predictions; below 1 after a wrong one
  int misses_ = 0;    ///< consecutive failed estimates
  double fitted_ = 0; ///< largest count times length that fitted
};

} // namespace batchscope::train
