#include <fmt/format.h>

#include "core/advice/detail/siblings.h"
#include "core/advice/rescale.h"
#include "core/advice/sources.h"
#include "core/base/text.h"

namespace batchscope::advice {

namespace {

/// By how much the rate of the first step was scaled: by the run's own rule, or by hand against the run of the sweep
/// with the smallest batch. 1 for a rate that was not scaled.
std::pair<double, std::int64_t> scale_of(const JudgedRun& judged) {
  const RunFacts& run = judged.run;
  const auto ratio = [&](std::int64_t reference) {
    return static_cast<double>(*run.effective_batch) / static_cast<double>(reference);
  };
  if (run.own && run.own->lr_rule != "none" && run.reference_batch)
    return {ratio(*run.reference_batch), *run.reference_batch};
  for (const RunFacts* smallest : detail::smallest_batch(judged))
    if (smallest->first_rate && *run.first_rate > *smallest->first_rate)
      return {ratio(*smallest->effective_batch), *smallest->effective_batch};
  return {1, *run.effective_batch};
}

} // namespace

std::optional<Finding> no_warmup_lint(const JudgedRun& judged);
std::optional<Finding> no_warmup_lint(const JudgedRun& judged) {
  const RunFacts& run = judged.run;
  const bool gains = run.own && run.own->lr_rule == "adascale"; // its gains grow only with the noise
  if (!run.effective_batch || !run.first_rate || run.warmup_steps.value_or(1) > 0 || gains)
    return std::nullopt;
  const auto [scale, reference] = scale_of(judged);
  if (scale < scale_that_needs_warmup)
    return std::nullopt;
  Finding found{.title = "No warm-up for a scaled learning rate", .value = scale};
  found.severity = scale < scale_that_diverges ? Severity::warning : Severity::critical;
  found.message = fmt::format("the learning rate was scaled from batch {} to {} (x {:.3g}), to {:g}, without warm-up",
                              format_count(reference), format_count(*run.effective_batch), scale, *run.first_rate);
  found.mend = "--warmup auto";
  found.changes = {{"warmup", "auto"}, {"lr_reference_batch", std::to_string(reference)}};
  if (run.own && run.own->lr_rule == "none") { // scaled by hand: `auto` goes by the reference batch
    found.mend = fmt::format("--warmup auto --lr-reference-batch {}", reference);
  } else {
    found.changes.pop_back();
  }
  found.source = cite("tradeoffs", "pitfall 3");
  return found;
}

} // namespace batchscope::advice
