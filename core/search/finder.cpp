#include "core/search/finder.h"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "core/base/error.h"
#include "core/base/text.h"
#include "core/search/strategies.h"

namespace batchscope::search {

namespace {

using Maker = std::unique_ptr<Finder> (*)(const FinderOptions&);

constexpr std::pair<const char*, Maker> makers[] = {
    {"halving", make_halving}, {"shrink", make_shrink}, {"doubling", make_doubling},
    {"power", make_power},     {"binary", make_binary}, {"predictive", make_predictive},
};

void check(const FinderOptions& options) {
  if (options.max_batch < 1)
    throw input_error(fmt::format("max-batch is {}; accepted: 1 or more", options.max_batch));
  if (options.start && *options.start < 1)
    throw input_error(fmt::format("start is {}; accepted: 1 or more", *options.start));
  if (!(options.factor > 0 && options.factor < 1))
    throw input_error(fmt::format("factor is {}; accepted: above 0 and below 1", options.factor));
  if (!(options.margin >= 0 && options.margin < 1))
    throw input_error(fmt::format("margin is {}; accepted: 0 or more and below 1", options.margin));
}

} // namespace

std::unique_ptr<Finder> make_finder(const std::string& strategy, const FinderOptions& options) {
  for (const auto& [name, maker] : makers) {
    if (name != strategy)
      continue;
    check(options);
    return maker(options);
  }
  throw input_error(
      fmt::format("unknown strategy '{}'; accepted: {}", shortened(strategy), fmt::join(strategies(), ", ")));
}

const std::vector<std::string>& strategies() {
  static const std::vector<std::string> names = [] {
    std::vector<std::string> result;
    for (const auto& [name, maker] : makers)
      result.emplace_back(name);
    return result;
  }();
  return names;
}

Probe SimulatedDevice::run(const Proposal& proposal) {
  Probe probe;
  probe.batch = proposal.batch;
  probe.outcome = proposal.batch <= capacity_ ? Outcome::fits : Outcome::out_of_memory;
  probe.predicted_bytes = proposal.predicted_bytes;
  return probe;
}

std::optional<std::int64_t> knee(const std::vector<Timing>& timings, double tolerance) {
  double best = 0;
  for (const Timing& timing : timings)
    if (std::isfinite(timing.examples_per_second))
      best = std::max(best, timing.examples_per_second);
  std::optional<std::int64_t> smallest;
  for (const Timing& timing : timings) {
    const double rate = timing.examples_per_second;
    const bool good = rate > 0 && rate * (1 + std::min(timing.uncertainty, most_knee_noise)) >= (1 - tolerance) * best;
    if (good && std::isfinite(rate) && (!smallest || timing.batch < *smallest))
      smallest = timing.batch;
  }
  return smallest;
}

std::int64_t safe_without_memory(std::int64_t largest, double margin) {
  // The small factor keeps 100 with a margin of 0.9 at 10: neither 0.9 nor 0.1 has an exact binary form.
  const double size = static_cast<double>(largest) * (1 - margin) * (1 + 1e-12);
  return std::clamp<std::int64_t>(static_cast<std::int64_t>(size), 1, std::max<std::int64_t>(largest, 1));
}

} // namespace batchscope::search
