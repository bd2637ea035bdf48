#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "core/base/processor_time.h"
#include "core/predict/peak_curve.h"
#include "core/predict/peak_predictor.h"
#include "core/telemetry/trace.h"

namespace batchscope::search {

enum class Outcome { fits, out_of_memory, error };

/// One size that was run, and its outcome.
struct Probe {
  std::int64_t batch = 0;
  Outcome outcome = Outcome::fits;
  std::optional<std::uint64_t> peak_bytes; ///< highest bytes in use; nothing with a simulated device
  /// Most memory that a GPU's allocator held: tensors and unused space between them. Only for a size that was the only
  /// one of its process.
  std::optional<std::uint64_t> reserved_bytes;
  std::optional<std::uint64_t> predicted_bytes; ///< the finder's prediction before the run
  std::optional<double> seconds;                ///< of one whole optimizer step
  std::optional<double> examples_per_second;
  std::string message; ///< for Outcome::error
  /// How the size of a program of the user's own was run: `process` (one process for each size), `live` (in one process
  /// for several sizes) or `evaluation` (a batch of its evaluation); empty for other runs.
  std::string how;
  std::optional<std::int64_t> pid;               ///< of that process
  std::shared_ptr<const telemetry::Trace> trace; ///< allocations and frees; only if the finder requested them
};

/// The next trial that a finder asks for.
struct Proposal {
  std::int64_t batch = 1;
  bool trace = false; ///< record the allocation trace
  std::optional<std::uint64_t> predicted_bytes;
};

struct FinderOptions {
  std::optional<std::int64_t> start;         ///< first size; each strategy has its own default
  double factor = 0.9;                       ///< of `shrink`, 0 < factor < 1
  std::int64_t max_batch = 1;                ///< min(--max-batch, N/R); never exceeded
  double margin = 0.2;                       ///< fraction of the memory that the safe size leaves free, 0 <= margin < 1
  std::optional<std::uint64_t> budget_bytes; ///< limit of the device; nothing with a simulated device
  /// Fraction of the memory, at least 0, by which a prediction from traces may be wrong: a process needs some memory
  /// besides its tensors. So far below its prediction `predictive` begins, and approaches it without errors.
  double slack = 0;
  /// Fraction of the memory, at least 0: a size that is predicted to need only so much more than there is, is tried all
  /// the same before the search of `predictive` is over.
  double doubt = 0;
  /// The memory of a step as known before anything runs; null if it is not. `predictive` then runs the safe size first,
  /// to see how right it is, and then the largest.
  std::shared_ptr<const predict::PeakPredictor> memory{};
};

/// A search strategy, independent of any device: proposes a size, receives the probe, proposes again. Its answer is
/// always a size that was run; it never exceeds max_batch. One thread.
class Finder {
public:
  virtual ~Finder() = default;
  virtual std::string name() const = 0;
  /// The next size to run, or nothing when the search is over.
  virtual std::optional<Proposal> propose() = 0;
  virtual void tell(const Probe& probe) = 0;
  /// The largest size that ran and fitted; nothing if none did.
  virtual std::optional<std::int64_t> largest() const = 0;
  /// Whether no size above largest() fits: the next one ran out of memory, exceeds max_batch, or is predicted not to
  /// fit by a model that was right about largest(). Otherwise largest() is the largest size tried, and a larger one may
  /// fit.
  virtual bool largest_is_exact() const = 0;
  /// Predicted peak at a size in bytes, if the strategy predicts and knows enough by now.
  virtual std::optional<std::uint64_t> predict(std::int64_t /*batch*/) const { return std::nullopt; }
};

/// A finder of one of the strategies (strategy.h). Throws Error (input) for an unknown name or an option out of range.
std::unique_ptr<Finder> make_finder(const std::string& strategy, const FinderOptions& options);

/// Throughput of one size known to fit, over one or more stretches of whole steps; see measure_throughput(). If some
/// stretches were disturbed by other work and some were not, only those count that were not; if all were, these are
/// estimates for a free machine (ProcessorShare).
struct Timing {
  std::int64_t batch = 0;
  double seconds = 0;             ///< per optimizer step; the median of the stretches
  double examples_per_second = 0; ///< the median of the stretches
  double slowest = 0;             ///< examples per second of the slowest stretch
  double fastest = 0;             ///< of the fastest stretch
  int stretches = 1;              ///< that count
  /// Relative uncertainty of the throughput compared with that of the fastest size: two standard errors. 0 if it was
  /// timed once, and for the fastest size itself.
  double uncertainty = 0;
  double lost = 0; ///< fraction of these stretches that other work took, 0..1

  bool disturbed() const { return lost >= disturbed_from; }
};

/// A size that can be no answer, for another reason than memory.
struct LeftOut {
  std::int64_t batch = 0;
  std::string why;
};

/// The result of a search; printed by `find --json` and kept by the store.
struct SearchResult {
  std::string strategy;
  bool found = false;
  /// Stopped by the user, with what was settled until then: the sizes are if it has `found` some; else `largest` is the
  /// largest that fitted so far.
  bool interrupted = false;
  std::optional<std::int64_t> largest;
  bool largest_is_exact = false; ///< see Finder::largest_is_exact()
  std::optional<std::int64_t> safe;
  std::optional<std::int64_t> recommended;
  std::optional<std::int64_t> automatic; ///< what `--batch auto` takes: the recommended size or less
  std::string reason;        ///< why nothing was found or the search ended early, then why that size is recommended
  std::vector<Probe> probes; ///< the strategy's trials
  std::vector<Probe> checks; ///< trials that determined the safe size
  std::vector<LeftOut> left_out;
  std::vector<Timing> timings;
  std::optional<predict::PeakCurve> memory; ///< predicted from a dry run or from traced probes
  std::optional<std::uint64_t> baseline_bytes;
  std::optional<std::uint64_t> budget_bytes;
  double seconds = 0; ///< duration of the whole search; 0 if no device was searched
  /// The size of a batch of the program's evaluation, searched between two steps of the recommended size (without one,
  /// the safe or the largest); null if it was not asked for. It has no recommended size.
  std::shared_ptr<const SearchResult> evaluation;
};

/// Runs one size for a search; on a real device, the trainer's own step. Throws only for errors that end the search.
class Trial {
public:
  virtual ~Trial() = default;
  virtual Probe run(const Proposal& proposal) = 0;
};

/// A simulated device on which exactly the sizes up to `capacity` fit.
class SimulatedDevice : public Trial {
public:
  explicit SimulatedDevice(std::int64_t capacity) : capacity_(capacity) {}
  Probe run(const Proposal& proposal) override;

private:
  std::int64_t capacity_;
};

inline constexpr double knee_tolerance = 0.05;

/// The knee: the smallest size whose throughput is within `tolerance` of the best one for all that is known, which is
/// that it is by its whole uncertainty within that of the fastest size measured, and by half the uncertainty of each
/// other size within that. Nothing if the timings do not tell.
std::optional<std::int64_t> knee(const std::vector<Timing>& timings, double tolerance = knee_tolerance);

/// The safe size if memory is unknown: floor(largest * (1 - margin)), at least 1.
std::int64_t safe_without_memory(std::int64_t largest, double margin);

} // namespace batchscope::search
