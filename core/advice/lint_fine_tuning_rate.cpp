#include <fmt/format.h>

#include "core/advice/lint.h"
#include "core/advice/sources.h"

namespace batchscope::advice {

std::optional<Finding> fine_tuning_rate_lint(const JudgedRun& judged);
/// 10 to 100 times below the usual rate of pre-training, which is the optimizer's default.
std::optional<Finding> fine_tuning_rate_lint(const JudgedRun& judged) {
  constexpr double rounding = 1 + 1e-9;
  const RunFacts& run = judged.run;
  if (!run.fine_tuning || !run.first_rate)
    return std::nullopt;
  const bool sgd = run.optimizer == "sgd";
  const double usual = sgd ? 0.1 : 0.001, most = usual / 10, advised = usual / 100;
  if (*run.first_rate <= most * rounding)
    return std::nullopt;
  Finding found{.title = "Pre-training learning rate used for fine-tuning", .value = *run.first_rate};
  found.message = fmt::format("fine-tuning with a learning rate of {:g}; advised: {:g} to {:g}, 10 to 100 times below "
                              "the usual {:g}",
                              *run.first_rate, advised, most, usual);
  found.mend = fmt::format("--lr {:g} --lr-rule none", advised);
  found.changes = {{"lr", fmt::format("{:g}", advised)}, {"lr_rule", "none"}};
  found.source = cite("tradeoffs", "pitfall 10");
  return found;
}

} // namespace batchscope::advice
