#include "core/search/throughput.h"

#include <algorithm>
#include <array>
#include <cmath>

#include <fmt/format.h>

#include "core/base/median.h"
#include "core/base/text.h"
#include "core/search/detail/stop.h"

namespace batchscope::search {

namespace {

constexpr int min_rounds = 3;
constexpr int max_rounds = 9;
/// If timing has taken this long, two rounds are enough; other work makes it take longer.
constexpr double max_seconds = 20;
constexpr double max_disturbed_seconds = 40;
/// A size whose fastest stretch is slower than this fraction of the best throughput is not timed again: after one
/// round, after two, and after more. Early stretches may have been disturbed, but hardly all of them.
constexpr std::array<double, 3> hopeless{0.35, 0.5, 0.8};
/// A size that is slower than this fraction of the best throughput has no part in the answer.
constexpr double decides = 0.5;
/// Standard error of a median, as a multiple of the median absolute deviation divided by the square root of the count:
/// 1.2533 for the median of normal values, times 1.4826 from that deviation to theirs.
constexpr double error_of_median = 1.2533 * 1.4826;

bool is_disturbed(const TimedSteps& stretch) {
  return stretch.lost >= disturbed_from;
}

/// Twice the standard error of the median.
double uncertainty_of(std::vector<double> logarithms) {
  if (logarithms.size() < 2)
    return 0;
  const double centre = median(logarithms);
  for (double& each : logarithms)
    each = std::abs(each - centre);
  return 2 * error_of_median * median(logarithms) / std::sqrt(static_cast<double>(logarithms.size()));
}

/// A size and its stretches: entry i is from round i.
struct Timed {
  std::int64_t batch = 0;
  std::vector<TimedSteps> stretches{};
  bool racing = true; ///< can still be the knee

  /// Whether only those count that were not disturbed.
  bool has_calm() const { return !std::all_of(stretches.begin(), stretches.end(), is_disturbed); }
  bool counts(const TimedSteps& stretch) const { return !is_disturbed(stretch) || !has_calm(); }
  std::vector<double> counting(double TimedSteps::*member) const {
    std::vector<double> values;
    for (const TimedSteps& stretch : stretches)
      if (counts(stretch))
        values.push_back(stretch.*member);
    return values;
  }
  std::vector<double> rates() const { return counting(&TimedSteps::examples_per_second); }
  double rate() const { return median(rates()); }
  double fastest() const {
    const std::vector<double> all = rates();
    return *std::max_element(all.begin(), all.end());
  }
};

/// Twice the standard error of the relative speed of two sizes. Compares pairs of the same round, so that disturbances
/// of both cancel out; without two such pairs, the two by themselves.
double uncertainty(const Timed& size, const Timed& best) {
  if (&size == &best)
    return 0;
  std::vector<double> ratios;
  for (std::size_t i = 0; i < std::min(size.stretches.size(), best.stretches.size()); ++i)
    if (const TimedSteps& own = size.stretches[i], &other = best.stretches[i]; size.counts(own) && best.counts(other))
      ratios.push_back(std::log(own.examples_per_second / other.examples_per_second));
  double fraction = uncertainty_of(ratios);
  if (ratios.size() < 2) {
    const auto alone = [](const Timed& timed) {
      std::vector<double> rates = timed.rates();
      for (double& rate : rates)
        rate = std::log(rate);
      return uncertainty_of(std::move(rates));
    };
    fraction = std::hypot(alone(size), alone(best));
  }
  // It is not faster than its fastest stretch.
  return std::min(fraction, size.fastest() / size.rate() - 1);
}

Timing timing_of(const Timed& size, const Timed& best) {
  const std::vector<double> rates = size.rates();
  const auto [slowest, fastest] = std::minmax_element(rates.begin(), rates.end());
  return {.batch = size.batch,
          .seconds = median(size.counting(&TimedSteps::step_seconds)),
          .examples_per_second = median(rates),
          .slowest = *slowest,
          .fastest = *fastest,
          .stretches = static_cast<int>(rates.size()),
          .uncertainty = uncertainty(size, best),
          .lost = median(size.counting(&TimedSteps::lost))};
}

const Timed* best_of(const std::vector<Timed>& sizes) {
  const Timed* best = nullptr;
  for (const Timed& size : sizes)
    if (!best || size.rate() > best->rate())
      best = &size;
  return best;
}

std::vector<Timing> timings_of(const std::vector<Timed>& sizes) {
  std::vector<Timing> timings;
  const Timed* fastest = best_of(sizes);
  for (const Timed& size : sizes)
    timings.push_back(timing_of(size, *fastest));
  return timings;
}

class Race {
public:
  Race(const std::vector<std::int64_t>& sizes, const TimeSteps& time,
       const std::function<void(const Timing&)>& on_timing)
      : time_(time), on_timing_(on_timing) {
    for (const std::int64_t batch : sizes)
      sizes_.push_back({.batch = batch});
  }

  std::vector<Timing> run() {
    for (int round = 0; round < max_rounds && !over(round); ++round) {
      time_all(round % 2 == 1);
      std::erase_if(sizes_, [](const Timed& size) { return size.stretches.empty(); });
      drop_hopeless(hopeless[std::min<std::size_t>(static_cast<std::size_t>(round), hopeless.size() - 1)]);
    }
    return timings_of(sizes_);
  }

private:
  void time_all(bool downwards) {
    const std::size_t count = sizes_.size();
    for (std::size_t i = 0; i < count; ++i) {
      Timed& size = sizes_[downwards ? count - 1 - i : i];
      if (!size.racing)
        continue;
      const auto stretch = time_(size.batch);
      if (!stretch) {
        size.stretches.clear(); // it does not fit any more, and is no answer
        size.racing = false;
        continue;
      }
      seconds_ += stretch->spent_seconds;
      size.stretches.push_back(*stretch);
      if (on_timing_)
        on_timing_(timing_of(size, size));
    }
  }

  void drop_hopeless(double fraction) {
    const Timed* fastest = best_of(sizes_);
    if (!fastest)
      return;
    const double bound = fraction * fastest->rate();
    for (Timed& size : sizes_)
      size.racing = size.racing && size.fastest() >= bound;
  }

  bool over(int rounds) const {
    const auto racing = std::count_if(sizes_.begin(), sizes_.end(), [](const Timed& size) { return size.racing; });
    if (racing == 0 || (rounds >= 1 && racing == 1))
      return true;
    const bool disturbed =
        std::any_of(sizes_.begin(), sizes_.end(), [](const Timed& size) { return size.racing && !size.has_calm(); });
    return (rounds >= 2 && seconds_ > (disturbed ? max_disturbed_seconds : max_seconds)) ||
           (rounds >= min_rounds && settled());
  }

  /// Whether more rounds would hardly move the knee: for the knee and for each smaller size, either all stretches are
  /// within the tolerance, or none is.
  bool settled() const {
    const std::vector<Timing> all = timings_of(sizes_);
    const auto knee_now = knee(all);
    const double bound = (1 - knee_tolerance) * best_of(sizes_)->rate();
    return knee_now && std::none_of(all.begin(), all.end(), [&](const Timing& timing) {
             return timing.batch <= *knee_now && timing.slowest < bound && timing.fastest >= bound;
           });
  }

  const TimeSteps& time_;
  const std::function<void(const Timing&)>& on_timing_;
  std::vector<Timed> sizes_;
  double seconds_ = 0;
};

const Timing& fastest_of(const std::vector<Timing>& timings) {
  return *std::max_element(timings.begin(), timings.end(), [](const Timing& a, const Timing& b) {
    return a.examples_per_second < b.examples_per_second;
  });
}

} // namespace

TimedSteps timed_steps_of(const std::vector<double>& seconds, double examples, const ProcessorShare& share) {
  TimedSteps stretch{.lost = share.lost()};
  for (const double each : seconds)
    stretch.spent_seconds += each;
  stretch.step_seconds = stretch.spent_seconds / static_cast<double>(seconds.size());
  if (is_disturbed(stretch))
    stretch.step_seconds = std::min((1 - stretch.lost) * stretch.step_seconds, median(seconds));
  stretch.examples_per_second = examples / stretch.step_seconds;
  return stretch;
}

std::vector<std::int64_t> sizes_to_time(const SearchResult& result) {
  std::vector<std::int64_t> sizes;
  for (std::int64_t size = 1; size < *result.largest; size *= 2)
    sizes.push_back(size);
  sizes.push_back(*result.largest);
  if (result.safe)
    sizes.push_back(*result.safe);
  std::sort(sizes.begin(), sizes.end());
  sizes.erase(std::unique(sizes.begin(), sizes.end()), sizes.end());
  return sizes;
}

std::vector<Timing> measure_throughput(const std::vector<std::int64_t>& sizes, const TimeSteps& time,
                                       const std::function<void(const Timing&)>& on_timing) {
  return Race(sizes, time, on_timing).run();
}

std::vector<Timing> timings_of(const std::map<std::int64_t, std::vector<TimedSteps>>& stretches) {
  std::vector<Timed> sizes;
  for (const auto& [batch, of_it] : stretches)
    sizes.push_back({.batch = batch, .stretches = of_it});
  return timings_of(sizes);
}

void time_sizes(SearchResult& result, const TimeSteps& time, const std::function<void(const Timing&)>& on_timing,
                const std::function<bool()>& stop) {
  std::vector<Timing> so_far;
  const auto keep = [&](const Timing& timing) {
    std::erase_if(so_far, [&](const Timing& earlier) { return earlier.batch == timing.batch; });
    so_far.push_back(timing);
    if (on_timing)
      on_timing(timing);
  };
  result.interrupted =
      !unless_stopped(stop, [&] { result.timings = measure_throughput(sizes_to_time(result), time, keep); });
  if (result.interrupted) {
    std::sort(so_far.begin(), so_far.end(), [](const Timing& a, const Timing& b) { return a.batch < b.batch; });
    result.timings = std::move(so_far);
    return add_reason(result, "stopped before the throughput was known, so no size is recommended");
  }
  recommend(result);
}

void recommend(SearchResult& result) {
  result.recommended = knee(result.timings);
  if (result.recommended)
    add_reason(result, knee_reason(result.timings, *result.recommended));
  if (const std::string doubt = doubt_about(result.timings); !doubt.empty())
    add_reason(result, doubt);
}

void add_reason(SearchResult& result, const std::string& reason) {
  result.reason += (result.reason.empty() ? "" : "; ") + reason;
}

std::optional<std::int64_t> recommended_or_fastest(const SearchResult& result) {
  if (result.recommended || result.timings.empty())
    return result.recommended;
  return fastest_of(result.timings).batch;
}

std::string knee_reason(const std::vector<Timing>& timings, std::int64_t batch) {
  const Timing& best = fastest_of(timings);
  const auto own =
      std::find_if(timings.begin(), timings.end(), [&](const Timing& timing) { return timing.batch == batch; });
  const auto rate = [](const Timing& timing) {
    return fmt::format("{}{} examples/s", timing.disturbed() ? "about " : "",
                       format_count(std::llround(timing.examples_per_second)));
  };
  if (own->batch == best.batch)
    return "the fastest size measured: " + rate(best);
  return fmt::format("the smallest size that is certainly within {:g} % of the best throughput: {} against {} at batch "
                     "size {}",
                     100 * knee_tolerance, rate(*own), rate(best), format_count(best.batch));
}

std::string doubt_about(const std::vector<Timing>& timings) {
  if (timings.empty())
    return {};
  std::string doubt;
  double lost = 0;
  for (const Timing& timing : timings)
    if (timing.examples_per_second >= decides * fastest_of(timings).examples_per_second)
      lost = std::max(lost, timing.lost);
  if (lost >= disturbed_from)
    doubt = fmt::format("other work on this machine took up to {:.0f} % of the time, so these rates are estimates; "
                        "measure again when the machine is idle",
                        100 * lost);
  if (knee(timings))
    return doubt;
  // Those that may be within the tolerance of the best.
  std::int64_t least = INT64_MAX, most = 0;
  double fold = 1;
  for (const Timing& timing : timings)
    if (timing.examples_per_second * (1 + timing.uncertainty) >=
        (1 - knee_tolerance) * fastest_of(timings).examples_per_second) {
      least = std::min(least, timing.batch);
      most = std::max(most, timing.batch);
      fold = std::max(fold, timing.fastest / timing.slowest);
    }
  const std::string alike = fmt::format(
      "no size is recommended, because timings of one size vary {:.1f}-fold: no clear difference between {} and {}",
      fold, format_count(least), format_count(most));
  return doubt.empty() ? alike + "; measure again when the machine is less busy" : alike + "; " + doubt;
}

} // namespace batchscope::search
