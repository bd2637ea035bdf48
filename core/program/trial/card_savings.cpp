#include "core/program/trial/card_savings.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>

#include "core/base/error.h"

namespace batchscope::program {

namespace {

/// A saving is at least such a fraction of the peak: kernels and blocks of the allocator differ by some anyway.
constexpr double least_saving = 0.02;

/// Fraction of the predicted further examples that a second size takes, so that it surely fits.
constexpr double tried_share = 0.85;

constexpr std::int64_t largest = std::numeric_limits<std::int64_t>::max();

struct Change {
  const char* name; ///< for the client, resources/python/batchscope/changes.py
  const char* title;
};
constexpr std::array changes{Change{"mixed", "mixed precision (bf16 autocast)"},
                             Change{"checkpointing", "activation checkpointing"}, Change{"adam8bit", "8-bit Adam"}};
constexpr Change all{"mixed,checkpointing,adam8bit", "all three"};

std::optional<std::uint64_t> peak_at(const search::SearchResult& result, std::int64_t batch) {
  for (const search::Probe& probe : result.probes)
    if (probe.batch == batch && probe.outcome == search::Outcome::fits)
      return probe.peak_bytes;
  return std::nullopt;
}

/// How many more examples fit beside those of a size that ran, if each takes so many bytes and the allocator leaves as
/// much of its memory unused.
std::int64_t more_examples(const search::Probe& probe, double each, std::uint64_t usable) {
  const auto peak = static_cast<double>(*probe.peak_bytes);
  const double unused = static_cast<double>(probe.reserved_bytes.value_or(*probe.peak_bytes)) / peak;
  const double room = static_cast<double>(usable) / std::max(unused, 1.0) - peak;
  return each > 0 ? static_cast<std::int64_t>(std::clamp(std::floor(room / each), 0.0, 1e12)) : 0;
}

/// Bytes of an example, as far as one size tells: the rest is there without a batch.
double bytes_of_example(const search::Probe& probe) {
  const auto without = static_cast<double>(probe.trace->start_bytes);
  return (static_cast<double>(*probe.peak_bytes) - without) / static_cast<double>(probe.batch);
}

/// Largest size, extrapolated from the memory of a size and of a larger one, near the largest.
std::int64_t largest_of(const search::Probe& size, const search::Probe& larger, std::uint64_t usable) {
  const double each = (static_cast<double>(*larger.peak_bytes) - static_cast<double>(*size.peak_bytes)) /
                      static_cast<double>(larger.batch - size.batch);
  return larger.batch + more_examples(larger, each, usable);
}

CardSaving try_change(const Change& change, const run::RunSpec& spec, const estimate::Target& card,
                      const Surroundings& surroundings, std::int64_t batch, const std::function<bool()>& stop) {
  CardSaving saving{.name = change.name,
                    .title = change.title,
                    .batch = batch,
                    .peak_bytes = std::nullopt,
                    .largest = std::nullopt,
                    .why_not = ""};
  Surroundings changed = surroundings;
  changed.environment.emplace_back("BATCHSCOPE_CHANGES", change.name);
  const auto try_size = [&](std::int64_t size) { return try_on_card(spec, card, changed, {size}, stop); };
  try {
    const TriedOnCard tried = try_size(batch);
    const search::Probe& size = tried.probes.front();
    if (size.outcome == search::Outcome::error)
      saving.why_not = size.message;
    if (size.outcome != search::Outcome::fits || !size.peak_bytes || !size.trace)
      return saving;
    saving.peak_bytes = size.peak_bytes;
    const std::int64_t most =
        std::max(batch, std::min(spec.max_batch.value_or(largest), tried.examples.value_or(largest)));
    const std::int64_t more = more_examples(size, bytes_of_example(size), card.usable_bytes());
    saving.largest = std::min(most, batch + more);
    const std::int64_t near =
        std::min(most, batch + static_cast<std::int64_t>(tried_share * static_cast<double>(more)));
    if (near == batch)
      return saving;
    const search::Probe larger = try_size(near).probes.front();
    if (larger.outcome == search::Outcome::fits && larger.peak_bytes)
      saving.largest = std::min(most, largest_of(size, larger, card.usable_bytes()));
  } catch (const Error& error) {
    saving.why_not = error.what();
  }
  return saving;
}

bool is_worth_it(const CardSaving& saving, const std::optional<std::uint64_t>& before) {
  if (!saving.why_not.empty() || !before)
    return !saving.why_not.empty() || saving.largest;
  return saving.peak_bytes &&
         static_cast<double>(*saving.peak_bytes) < (1 - least_saving) * static_cast<double>(*before);
}

} // namespace

void savings_on_card(const run::RunSpec& spec, const estimate::Target& card, const Surroundings& surroundings,
                     const search::SearchResult& found, const std::function<bool()>& stop,
                     const std::function<void(const CardSaving&)>& on_saving) {
  const std::int64_t batch = found.largest.value_or(1);
  const auto before = peak_at(found, batch);
  std::vector<Change> tried(changes.begin(), changes.end());
  if (!found.largest)
    tried.push_back(all);
  for (const Change& change : tried) {
    const CardSaving saving = try_change(change, spec, card, surroundings, batch, stop);
    if (stop && stop())
      return;
    if (is_worth_it(saving, before))
      on_saving(saving);
  }
}

} // namespace batchscope::program
