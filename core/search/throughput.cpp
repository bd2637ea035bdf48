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
/// If timing has taken this long, two rounds are enough.
constexpr double max_seconds = 20;
/// A size whose fastest stretch is slower than this fraction of the best throughput is not timed again: after one
/// round, after two, and after more. Early stretches may have been disturbed, but hardly all of them.
constexpr std::array<double, 3> hopeless{0.35, 0.5, 0.8};
/// Standard error of a median, as a multiple of the median absolute deviation divided by the square root of the count:
/// 1.2533 for the median of normal values, times 1.4826 from that deviation to theirs.
constexpr double error_of_median = 1.2533 * 1.4826;

/// A size and its stretches: entry i of each list is from round i.
struct Timed {
  std::int64_t batch = 0;
  std::vector<double> step_seconds{};
  std::vector<double> rates{};
  bool racing = true; ///< can still be the knee
};

/// Twice the standard error of the relative speed of two sizes. Compares pairs of the same round, so that disturbances
/// of both cancel out.
double uncertainty(const Timed& size, const Timed& best) {
  const std::size_t pairs = std::min(size.rates.size(), best.rates.size());
  if (&size == &best || pairs < 2)
    return 0;
  std::vector<double> ratios;
  for (std::size_t i = 0; i < pairs; ++i)
    ratios.push_back(std::log(size.rates[i] / best.rates[i]));
  const double centre = median(ratios);
  for (double& ratio : ratios)
    ratio = std::abs(ratio - centre);
  const double fraction = 2 * error_of_median * median(ratios) / std::sqrt(static_cast<double>(pairs));
  // It is not faster than its fastest stretch.
  return std::min(fraction, *std::max_element(size.rates.begin(), size.rates.end()) / median(size.rates) - 1);
}

class Race {
public:
  Race(const std::vector<std::int64_t>& sizes, const TimeStretch& time,
       const std::function<void(const Timing&)>& on_timing)
      : time_(time), on_timing_(on_timing) {
    for (const std::int64_t batch : sizes)
      sizes_.push_back({.batch = batch});
  }

  std::vector<Timing> run() {
    for (int round = 0; round < max_rounds && !over(round); ++round) {
      time_all(round % 2 == 1);
      std::erase_if(sizes_, [](const Timed& size) { return size.rates.empty(); });
      drop_hopeless(hopeless[std::min<std::size_t>(static_cast<std::size_t>(round), hopeless.size() - 1)]);
    }
    return timings();
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
        size.rates.clear(); // it does not fit any more, and is no answer
        size.racing = false;
        continue;
      }
      seconds_ += stretch->spent_seconds;
      size.step_seconds.push_back(stretch->step_seconds);
      size.rates.push_back(stretch->examples_per_second);
      if (on_timing_)
        on_timing_(timing_of(size, size));
    }
  }

  const Timed* best() const {
    const Timed* best = nullptr;
    for (const Timed& size : sizes_)
      if (!best || median(size.rates) > median(best->rates))
        best = &size;
    return best;
  }

  void drop_hopeless(double fraction) {
    const Timed* fastest = best();
    if (!fastest)
      return;
    const double bound = fraction * median(fastest->rates);
    for (Timed& size : sizes_)
      size.racing = size.racing && *std::max_element(size.rates.begin(), size.rates.end()) >= bound;
  }

  bool over(int rounds) const {
    const auto racing = std::count_if(sizes_.begin(), sizes_.end(), [](const Timed& size) { return size.racing; });
    if (racing == 0 || (rounds >= 1 && racing == 1))
      return true;
    return (rounds >= 2 && seconds_ > max_seconds) || (rounds >= min_rounds && settled());
  }

  /// Whether more rounds would hardly move the knee: for the knee and for each smaller size, either all stretches are
  /// within the tolerance, or none is.
  bool settled() const {
    const std::vector<Timing> all = timings();
    const auto knee_now = knee(all);
    const double bound = (1 - knee_tolerance) * median(best()->rates);
    return std::none_of(all.begin(), all.end(), [&](const Timing& timing) {
      return knee_now && timing.batch <= *knee_now && timing.slowest < bound && timing.fastest >= bound;
    });
  }

  static Timing timing_of(const Timed& size, const Timed& best) {
    const auto [slowest, fastest] = std::minmax_element(size.rates.begin(), size.rates.end());
    return {.batch = size.batch,
            .seconds = median(size.step_seconds),
            .examples_per_second = median(size.rates),
            .slowest = *slowest,
            .fastest = *fastest,
            .stretches = static_cast<int>(size.rates.size()),
            .uncertainty = uncertainty(size, best)};
  }

  std::vector<Timing> timings() const {
    std::vector<Timing> timings;
    const Timed* fastest = best();
    for (const Timed& size : sizes_)
      timings.push_back(timing_of(size, *fastest));
    return timings;
  }

  const TimeStretch& time_;
  const std::function<void(const Timing&)>& on_timing_;
  std::vector<Timed> sizes_;
  double seconds_ = 0;
};

} // namespace

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

std::vector<Timing> measure_throughput(const std::vector<std::int64_t>& sizes, const TimeStretch& time,
                                       const std::function<void(const Timing&)>& on_timing) {
  return Race(sizes, time, on_timing).run();
}

void time_sizes(SearchResult& result, const TimeStretch& time, const std::function<void(const Timing&)>& on_timing,
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
  result.recommended = knee(result.timings);
  if (result.recommended)
    add_reason(result, knee_reason(result.timings, *result.recommended));
}

void add_reason(SearchResult& result, const std::string& reason) {
  result.reason += (result.reason.empty() ? "" : "; ") + reason;
}

std::string knee_reason(const std::vector<Timing>& timings, std::int64_t batch) {
  const auto best = std::max_element(timings.begin(), timings.end(), [](const Timing& a, const Timing& b) {
    return a.examples_per_second < b.examples_per_second;
  });
  const auto own =
      std::find_if(timings.begin(), timings.end(), [&](const Timing& timing) { return timing.batch == batch; });
  const auto rate = [](double value) { return format_count(std::llround(value)) + " examples/s"; };
  if (own == best)
    return "the fastest size measured: " + rate(best->examples_per_second);
  const std::string tolerance = fmt::format("{:g} %", 100 * knee_tolerance);
  const std::string compared = fmt::format("{} against {} at batch size {}", rate(own->examples_per_second),
                                           rate(best->examples_per_second), format_count(best->batch));
  if (own->examples_per_second >= (1 - knee_tolerance) * best->examples_per_second)
    return fmt::format("the smallest size within {} of the best throughput: {}", tolerance, compared);
  return fmt::format("the smallest size that is not measurably more than {} slower than the best: {}, +/- {:.1f} % "
                     "({} measurements)",
                     tolerance, compared, 100 * own->uncertainty, own->stretches);
}

} // namespace batchscope::search
