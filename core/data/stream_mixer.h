#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace batchscope::data {

/// One of several sources whose examples are mixed in every batch.
struct Stream {
  std::string name;
  std::int64_t examples = 0; ///< for training, at least 1
};

/// Shares are integers of this unit, so that they add up to it exactly: 0.7 is 700,000,000.
inline constexpr std::int64_t share_unit = 1'000'000'000;

/// Turns fractions of 0 or more, with a sum above 0, into shares in proportion, by largest remainder.
std::vector<std::int64_t> exact_shares(const std::vector<double>& fractions);

/// Splits each step's examples among streams by largest remainder: a stream gets the whole part of its share of the
/// step, and the examples that are then left go, one each, to the streams with the largest remainders. Remainders are
/// those of all steps so far: what a stream got too little or too much of by rounding counts in the next step. So in
/// each step a stream is less than one example away from its share of that step, a share of 0 gets none, and a small
/// share gets its examples in time, also with a batch of 1. Deterministic in integers. Cheap to copy; one thread.
class StreamMixer {
public:
  StreamMixer() = default;
  /// `clock`: index of the stream whose epochs are the run's.
  StreamMixer(std::vector<std::int64_t> shares, std::size_t clock);

  bool empty() const { return shares_.empty(); }
  const std::vector<std::int64_t>& shares() const { return shares_; }
  /// For the steps that follow; the clock's share is above 0.
  void set_shares(const std::vector<std::int64_t>& shares) { shares_ = shares; }

  /// The largest step, in examples of all streams, for which `left` examples of the clock are enough; 0 for none left.
  std::int64_t capacity(std::int64_t left) const;
  /// The streams' examples in a step of `total` examples, at most capacity(left). Of the clock at most `left`; a step
  /// in which that decides is the last of an epoch, and its rounding is not carried on.
  std::vector<std::int64_t> split(std::int64_t total, std::int64_t left);

  /// The remainders carried on, which are the state besides the shares.
  const std::vector<std::int64_t>& carried() const { return carried_; }
  void set_carried(const std::vector<std::int64_t>& carried) { carried_ = carried; }

private:
  std::vector<std::int64_t> shares_;
  std::vector<std::int64_t> carried_; ///< per stream, in parts of an example / share_unit; their sum is 0
  std::size_t clock_ = 0;
};

} // namespace batchscope::data
