#include "core/sweep/recommend.h"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "core/base/text.h"
#include "core/search/finder.h"

namespace batchscope::sweep {

namespace {

/// Two standard errors of a proportion measured on this many examples.
double uncertainty(double fraction, std::int64_t examples) {
  return 2 * std::sqrt(fraction * (1 - fraction) / static_cast<double>(std::max<std::int64_t>(examples, 1)));
}

bool usable(const SizeResult& size) {
  return std::isfinite(size.accuracy) && std::isfinite(size.examples_per_second) && size.examples_per_second > 0;
}

} // namespace

std::string headline(const Recommendation& recommendation) {
  return "Recommended batch size: " + format_count(recommendation.batch);
}

std::string explanation(const Recommendation& recommendation) {
  return "Why: " + recommendation.reason + '.';
}

std::optional<Recommendation> recommend(const std::vector<SizeResult>& sizes, std::int64_t validation_examples) {
  const SizeResult* best = nullptr;
  for (const SizeResult& size : sizes)
    if (usable(size) && (!best || size.accuracy > best->accuracy))
      best = &size;
  if (!best)
    return std::nullopt;
  const double tolerance = uncertainty(best->accuracy, validation_examples);
  std::vector<search::Timing> as_accurate;
  for (const SizeResult& size : sizes)
    if (usable(size) && size.accuracy >= best->accuracy - tolerance)
      as_accurate.push_back({.batch = size.batch, .examples_per_second = size.examples_per_second});
  const auto batch = search::knee(as_accurate);
  if (!batch)
    return std::nullopt;
  const auto chosen =
      std::find_if(sizes.begin(), sizes.end(), [&](const SizeResult& size) { return size.batch == *batch; });
  std::string reason =
      chosen->batch == best->batch
          ? fmt::format("it has the best validation accuracy, {:.2f} %", 100 * best->accuracy)
          : fmt::format("its validation accuracy of {:.2f} % is not significantly below the best, {:.2f} % at batch "
                        "{} (on {} examples, only differences above {:.2f} points are significant)",
                        100 * chosen->accuracy, 100 * best->accuracy, format_count(best->batch),
                        format_count(validation_examples), 100 * tolerance);
  const std::string rate = format_count(std::llround(chosen->examples_per_second)) + " examples/s";
  reason += as_accurate.size() == 1
                ? fmt::format(", and no other size comes close; it trains at {}", rate)
                : fmt::format("; of the {} sizes with comparable accuracy, it is the smallest within {:g} % of the "
                              "fastest: {}",
                              as_accurate.size(), 100 * search::knee_tolerance, rate);
  return Recommendation{*batch, reason};
}

} // namespace batchscope::sweep
