#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "core/compare/runs.h"
#include "core/compare/statistics.h"

namespace batchscope::compare {

/// Objective of the user in choosing a batch size.
struct Goal {
  enum class Kind {
    accuracy,   ///< the best validation score at the end of a run
    throughput, ///< the smallest size within 5 % of the most examples per second
    target,     ///< the shortest time to a validation score of `value`
    time,       ///< the best validation score within `value` seconds
  };
  Kind kind = Kind::accuracy;
  double value = 0;
};
/// `accuracy` (the best at the end of the run), `throughput`, `target:0.97` or `target:97%`, `time:60` or `time:2min`;
/// throws Error (input) naming `option`.
Goal parse_goal(const std::string& text, const std::string& option);

/// One setting with what its runs came to, for a goal.
struct Standing {
  Group group;
  Summary summary;             ///< of `values`
  std::vector<double> values;  ///< of the runs that have one, by run, once for each seed; larger is better
  std::vector<double> results; ///< the same as measured: accuracy, loss, examples per second, or seconds to the target
  std::vector<std::string> seeds; ///< of those runs
  std::int64_t without = 0;       ///< finished runs that have no value, such as those that never reach the target
  std::string text;               ///< of the results, see MeanText: `98.20 % ± 0.30 over 3 seeds`; empty without any
  bool same_as_best = false;      ///< no clear difference from the best
};

/// How sure an answer is. `sure`: every other setting is worse beyond the 95 % interval over common seeds, or slower to
/// train and not better. `close`: others show no clear difference. `unknown`: there are too few repeats, or other work
/// on the machine disturbed them.
enum class Certainty { unknown, close, sure };

/// Which settings to use, in one or two sentences, and how sure that is.
struct Answer {
  std::string headline;              ///< "Batch size 64, lr 0.003"; empty if there is no answer
  std::string text;                  ///< the whole answer, beginning with the headline; or why there is none
  std::vector<std::int64_t> runs;    ///< those with these settings
  std::optional<std::int64_t> batch; ///< their first batch, if they have one
  Certainty certainty = Certainty::unknown;
  std::size_t reason_size = 0; ///< of `text`: how much of it says why; the rest is details
  std::string result;          ///< what the results are: `validation accuracy`
  std::string basis;           ///< goal and runs: `Goal: validation accuracy. From 12 of 14 runs.`
  /// Best first; settings of which more runs have no value come later, those without any last. A single run whose value
  /// is the highest is behind a setting with repeats of which a further run could have the same value.
  std::vector<Standing> standings;

  bool certain() const { return certainty == Certainty::sure; }
  std::string reason() const { return text.substr(0, reason_size); }
  /// What was disturbed, left out or not tried.
  std::string details() const { return reason_size < text.size() ? text.substr(reason_size + 1) : std::string(); }
};

/// Compares the finished runs. Settings that were run several times with different seeds are compared by the 95 %
/// interval of their paired differences, whose spread is estimated from all settings, adjusted for the number of
/// comparisons; of those that cannot be told apart the
/// smallest batch is chosen whose mean is within the spread of repeats of the best one. With one run each, by the value
/// alone, and the text says that the spread is unknown. Runs of this program with one seed learn the same: for their
/// score they count once. A setting that reaches a target with each seed is before one that does so only with some,
/// however fast those are.
Answer answer(const Comparison& comparison, const Goal& goal);

} // namespace batchscope::compare
