#include <cmath>

#include <fmt/format.h>

#include "core/advice/detail/siblings.h"
#include "core/advice/sources.h"
#include "core/base/text.h"

namespace batchscope::advice {

namespace {

constexpr double notable_change = 2;

std::string rule_for(const RunFacts& run) {
  return run.optimizer == "sgd" ? "linear" : "sqrt";
}

bool same_rate(const RunFacts& a, const RunFacts& b) {
  return a.first_rate && b.first_rate && std::abs(*a.first_rate - *b.first_rate) <= 1e-9 * *a.first_rate;
}

/// A sweep that also varies the learning rate at this batch looks for the right one itself.
bool rate_is_searched(const JudgedRun& judged) {
  for (const RunFacts& sibling : judged.siblings)
    if (sibling.effective_batch == judged.run.effective_batch && sibling.first_rate &&
        detail::comparable(sibling, judged.run) && !same_rate(sibling, judged.run))
      return true;
  return false;
}

Finding finding(double scale, std::string message, const RunFacts& run, std::int64_t reference) {
  Finding found{.title = "The learning rate did not follow the batch", .message = std::move(message), .value = scale};
  found.changes = {{"lr_rule", rule_for(run)}, {"lr_reference_batch", std::to_string(reference)}};
  found.mend = fmt::format("--lr-rule {} --lr-reference-batch {}", rule_for(run), reference);
  found.source = cite("tradeoffs", "pitfall 2");
  return found;
}

} // namespace

std::optional<Finding> rate_not_scaled_lint(const JudgedRun& judged);
/// Against the run of the sweep with the smallest batch; in a run, against its own first batch.
std::optional<Finding> rate_not_scaled_lint(const JudgedRun& judged) {
  const RunFacts& run = judged.run;
  const bool measured = run.own && run.own->lr_rule == "adascale"; // the rate follows the gradients
  if (!run.effective_batch || !run.first_rate || measured)
    return std::nullopt;
  for (const RunFacts* smallest : detail::smallest_batch(judged)) {
    const double scale = static_cast<double>(*run.effective_batch) / static_cast<double>(*smallest->effective_batch);
    if (scale >= notable_change && same_rate(run, *smallest) && !rate_is_searched(judged))
      return finding(
          scale,
          fmt::format("effective batch {} in run {} and {} here (x {:.3g}), with the learning rate {:g} in both",
                      format_count(*smallest->effective_batch), smallest->row.id, format_count(*run.effective_batch),
                      scale, *run.first_rate),
          run, *smallest->effective_batch);
  }
  const double growth = static_cast<double>(run.last_effective.value_or(*run.effective_batch)) /
                        static_cast<double>(*run.effective_batch);
  const bool constant_rate = run.own && run.own->lr_rule == "none" && run.own->lr_decay == "constant" &&
                             run.own->schedule.find("lr-decay") == std::string::npos;
  if (growth < notable_change || !constant_rate)
    return std::nullopt;
  Finding found = finding(
      growth,
      fmt::format("the effective batch grew from {} to {} (x {:.3g}), with the learning rate {:g} throughout",
                  format_count(*run.effective_batch), format_count(*run.last_effective), growth, *run.first_rate),
      run, *run.effective_batch);
  found.severity = Severity::information; // the schedule grows it on purpose, to do without a decay
  return found;
}

} // namespace batchscope::advice
