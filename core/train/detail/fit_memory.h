#pragma once

#include <cstdint>
#include <vector>

namespace batchscope::train {

/// What a run has learnt about sizes that do not fit. A micro batch of `count` examples padded to `length` (1 where
/// examples have no length) is known not to fit when one that was no larger in either did not.
class FitMemory {
public:
  void out_of_memory(std::int64_t count, std::int64_t length);
  bool known_not_to_fit(std::int64_t count, std::int64_t length) const;
  /// The fewest parts, as even as can be, of which none is known not to fit; `count` parts at most.
  std::int64_t parts(std::int64_t count, std::int64_t length) const;

private:
  struct Size {
    std::int64_t count, length;
  };
  std::vector<Size> failed_; ///< none of them covers another
};

} // namespace batchscope::train
