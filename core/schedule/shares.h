#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "core/data/stream_mixer.h"

namespace batchscope::schedule {

/// The shares of several streams in the batch, step by step. Its text is one of
/// - empty: in proportion to the streams' examples;
/// - `a=0.7,b=0.3`: constant;
/// - `a=0.9,b=0.1,100:a=0.5,b=0.5`: other shares after 100 optimizer steps, and so on; `0:` may precede the first ones;
/// - `linear:a=0.9,b=0.1,100:a=0.5,b=0.5`: the same, but changing linearly from each point to the next, every step;
/// - `loss:a=0.7,b=0.3`: a tenth of each share is fixed; the rest goes to the streams in proportion to their share
///   times their loss (its moving average, with factor 0.98), so that a stream that is learnt well yields to the
///   others.
///
/// Shares are 0 to 1, there is one for each stream, and their sum is 1 (to a millionth). The clock's is never 0. One
/// thread at a time.
class ShareSchedule {
public:
  /// Throws Error (input) naming --shares for a text that is not of this form.
  ShareSchedule(const std::string& text, const std::vector<data::Stream>& streams, std::size_t clock);

  /// For the step after `steps_done` ones, in parts of data::share_unit.
  std::vector<std::int64_t> after(std::int64_t steps_done) const;
  /// The largest that a stream may have in any step.
  std::int64_t largest(std::size_t stream) const;
  /// Takes the mean loss of each stream in a step; NaN for a stream without examples in it.
  void add(const std::vector<double>& losses);
  /// Whether the shares depend on what is measured.
  bool needs_feedback() const { return rule_ == Rule::loss; }

  /// State that add() has changed: the moving averages, NaN for a stream without a loss so far. set_losses() throws
  /// Error (input) for another number of streams.
  const std::vector<double>& losses() const { return losses_; }
  void set_losses(const std::vector<double>& losses);

private:
  enum class Rule { piecewise, linear, loss };
  struct Piece {
    std::int64_t step = 0; ///< steps done
    std::vector<double> shares;
  };

  void read(const std::string& text, const std::vector<data::Stream>& streams);
  void check(const std::string& text, const std::vector<data::Stream>& streams, std::size_t clock) const;

  Rule rule_ = Rule::piecewise;
  std::vector<Piece> pieces_;  ///< by step, the first at 0
  std::vector<double> losses_; ///< moving averages; NaN before the first value
};

/// Checks the text for streams of these names, whose numbers of examples are not known yet. Throws Error (input).
void check_shares(const std::string& text, const std::vector<std::string>& names, std::size_t clock);

/// The index of the stream named, the first one for an empty name. Throws Error (input) naming --clock.
std::size_t clock_of(const std::string& clock, const std::vector<std::string>& names);

} // namespace batchscope::schedule
