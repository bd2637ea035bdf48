#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <unordered_set>
#include <vector>

#include "core/compare/runs.h"
#include "core/compare/statistics.h"

// Which runs a mean is made of: the same ones in a sentence, a table, a plot and a file.
namespace batchscope::compare {

/// Whether the results of a run are those of a whole training: it has finished. One that is not over, or was stopped,
/// skipped, or has failed has those of a part of it, or none.
bool counts(const ComparedRun& run);
/// How many of these do.
std::int64_t counted(const Comparison& comparison, const std::vector<std::size_t>& runs);

/// Whether training with one seed comes to the same value again (a score, a loss, steps); times and memory do not.
/// `name` of an outcome's field or of a series.
bool is_learnt(const std::string& name);

/// Takes the runs of a comparison one after the other, and tells which of them are evidence of their own.
class Evidence {
public:
  /// Of values that are learnt (see is_learnt), repeats of one setting with the same seed are no further evidence: runs
  /// of this program learn the same.
  Evidence(const Comparison& comparison, bool learnt) : comparison_(comparison), learnt_(learnt) {}
  /// `run` has a value.
  bool adds(std::size_t run);

private:
  const Comparison& comparison_;
  const bool learnt_;
  std::unordered_set<std::size_t> seen_; ///< Comparison::learnt_as
};

/// What these runs came to: of those that count, have a finite value (`values` by run), and are evidence of their own.
Summary summary_of(const Comparison& comparison, const std::vector<std::size_t>& runs,
                   const std::vector<double>& values, bool learnt);

} // namespace batchscope::compare
