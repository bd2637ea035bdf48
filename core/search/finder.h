#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "core/predict/peak_curve.h"
#include "core/telemetry/trace.h"

namespace batchscope::search {

enum class Outcome { fits, out_of_memory, error };

/// One size that was run and what came of it.
struct Probe {
  std::int64_t batch = 0;
  Outcome outcome = Outcome::fits;
  std::optional<std::uint64_t> peak_bytes;      ///< highest in use; empty with a pretended capacity
  std::optional<std::uint64_t> predicted_bytes; ///< what the finder expected before it ran
  std::optional<double> seconds;                ///< of one whole optimizer step
  std::optional<double> examples_per_second;
  std::string message;                           ///< for Outcome::error
  std::shared_ptr<const telemetry::Trace> trace; ///< what the allocator did; only where the finder asked for it
};

/// What a finder wants run next.
struct Proposal {
  std::int64_t batch = 1;
  bool trace = false; ///< record the allocator's trace
  std::optional<std::uint64_t> predicted_bytes;
};

struct FinderOptions {
  std::optional<std::int64_t> start;         ///< first size; each strategy has its own default
  double factor = 0.9;                       ///< of `shrink`, 0 < factor < 1
  std::int64_t max_batch = 1;                ///< min(--max-batch, N/R); never exceeded
  double margin = 0.2;                       ///< share of the memory that the safe answer leaves free, 0 <= margin < 1
  std::optional<std::uint64_t> budget_bytes; ///< limit of the device; empty with a pretended capacity
};

/// A pure strategy: proposes a size, is told what came of it, proposes again. It never sees a device.
/// Never answers with a size that was not run, never exceeds max_batch. One thread.
class Finder {
public:
  virtual ~Finder() = default;
  virtual std::string name() const = 0;
  /// The next size to run, or nothing when the search is over.
  virtual std::optional<Proposal> propose() = 0;
  virtual void tell(const Probe& probe) = 0;
  /// The largest size that was run and fitted; nothing where none did.
  virtual std::optional<std::int64_t> largest() const = 0;
  /// Whether no size above largest() fits: the next one was refused, is not allowed, or is foretold to be too large by
  /// a model that was right about largest(). Else it is the largest tried, and a larger one may fit.
  virtual bool largest_is_exact() const = 0;
  /// Peak expected at a size, where the strategy can tell (predictive, after two probes).
  virtual std::optional<std::uint64_t> predict(std::int64_t /*batch*/) const { return std::nullopt; }
};

/// `halving`, `shrink`, `doubling`, `power`, `binary` or `predictive`; throws Error (input) listing these.
std::unique_ptr<Finder> make_finder(const std::string& strategy, const FinderOptions& options);
const std::vector<std::string>& strategies();

/// Throughput of one size known to fit, over one or more stretches of whole steps; see measure_throughput().
struct Timing {
  std::int64_t batch = 0;
  double seconds = 0;             ///< of one optimizer step; the median of the stretches
  double examples_per_second = 0; ///< the median of the stretches
  double slowest = 0;             ///< examples per second of the slowest stretch
  double fastest = 0;             ///< and of the fastest
  int stretches = 1;
  /// By what share the throughput may be off against that of the fastest size: two standard errors; 0 where it was
  /// timed once, and for the fastest size itself.
  double uncertainty = 0;
};

/// The whole answer of a search; what `find --json` prints and the store keeps.
struct SearchResult {
  std::string strategy;
  bool found = false;
  std::optional<std::int64_t> largest;
  bool largest_is_exact = false; ///< see Finder::largest_is_exact()
  std::optional<std::int64_t> safe;
  std::optional<std::int64_t> recommended;
  std::optional<std::int64_t> automatic; ///< what `--batch auto` takes: the recommended one, or less (run::RunSpec)
  std::string reason;        ///< why nothing was found or the search ended early, then why that size is recommended
  std::vector<Probe> probes; ///< the strategy's runs
  std::vector<Probe> checks; ///< runs that settled the safe size
  std::vector<Timing> timings;
  std::optional<predict::PeakCurve> memory; ///< what the probes foretell; only where a strategy had traces made
  std::optional<std::uint64_t> baseline_bytes;
  std::optional<std::uint64_t> budget_bytes;
  double seconds = 0; ///< that the whole search took; 0 where no device was searched
};

/// Runs one size for a search. On a real device: the trainer's own step. Throws only for what ends the search.
class Trial {
public:
  virtual ~Trial() = default;
  virtual Probe run(const Proposal& proposal) = 0;
};

/// A pretended device on which exactly the sizes up to `capacity` fit.
class SimulatedDevice : public Trial {
public:
  explicit SimulatedDevice(std::int64_t capacity) : capacity_(capacity) {}
  Probe run(const Proposal& proposal) override;

private:
  std::int64_t capacity_;
};

inline constexpr double knee_tolerance = 0.05;
/// A size that was slower by more than this and the tolerance together was slower, however uncertain its timing is.
inline constexpr double most_knee_noise = 0.1;

/// The knee: the smallest size whose throughput is within `tolerance` of the best measured one, or cannot be told from
/// one that is (Timing::uncertainty).
std::optional<std::int64_t> knee(const std::vector<Timing>& timings, double tolerance = knee_tolerance);

/// The largest size that fits within (1 - margin) of a size, where no memory is known: floor(largest * (1 - margin)),
/// at least 1.
std::int64_t safe_without_memory(std::int64_t largest, double margin);

} // namespace batchscope::search
