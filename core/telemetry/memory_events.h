#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>

#include "core/telemetry/reason.h"
#include "core/telemetry/trace.h"

// Events about memory. Sizes are bytes, batches and micro batches are examples; what is not known is nothing. Texts
// named `error` are of another program, as it wrote them.
namespace batchscope::telemetry {

/// A request for memory that was refused, and what was done about it.
struct OutOfMemory {
  /// Activity during which memory ran out. `outside`: it is known only from how a program ended.
  enum class Where { training, update, evaluation, loading, outside };
  /// The same examples run again in smaller micro batches; the evaluation goes on with smaller batches; the same is
  /// tried again; the error went on to whoever made the step.
  enum class Outcome { split, smaller, retried, not_survived };
  /// The likely cause. The last four say which memory a program ran out of.
  enum class Cause {
    none, ///< nothing is said of it
    unknown,
    growing_back,
    first_batch,
    schedule,
    longer_example,
    lowered_budget,
    growth,
    fragmentation,
    other_process,
    device,
    host,
    kernel,       ///< its out-of-memory killer
    loader_worker ///< of a data loader, or /dev/shm is full
  };
  /// Memory that in_use_bytes counts: the same as limit_bytes (`budget`), or the whole process, with libraries that a
  /// budget does not count (`process`).
  enum class Counts { not_known, budget, process };

  Where where = Where::training;
  Outcome outcome = Outcome::not_survived;
  std::optional<std::int64_t> attempted_batch{}; ///< of the micro batch that did not fit
  std::optional<std::uint64_t> requested_bytes{};
  std::optional<std::uint64_t> in_use_bytes{};
  Counts counts = Counts::not_known;
  std::optional<std::uint64_t> reserved_bytes{}; ///< in use and cached
  std::optional<std::uint64_t> limit_bytes{};
  std::optional<std::array<std::uint64_t, use_count>> in_use_by{}; ///< indexed by Use
  std::optional<Phase> phase{};
  std::optional<std::int64_t> split_to{}; ///< largest micro batch from now on; of split and smaller
  std::optional<std::int64_t> nominal_batch{}, accumulate{}, effective_batch{};
  std::optional<std::int64_t> longest_example{};                             ///< of the micro batch
  std::optional<std::int64_t> micro_batches_before{}, micro_batches_after{}; ///< of the step
  std::optional<std::int64_t> micro_batch_before{};                          ///< the largest of the failed attempt
  std::optional<std::int64_t> examples_again{};                              ///< that run again
  Cause cause = Cause::none;
  Reason reason{};                    ///< why it was not survived
  std::string error{};                ///< text of a program's exception; empty: none
  std::optional<std::int64_t> rank{}; ///< of the process, if there are several

  bool operator==(const OutOfMemory&) const = default;
};

bool survived(const OutOfMemory& event);

/// The memory budget was changed, or was to be.
struct BudgetChange {
  enum class Why {
    asked,
    follows_free_memory,
    taken_back, ///< no step could be made with the one before
  };
  Why why = Why::asked;
  std::optional<std::uint64_t> before_bytes{}, asked_bytes{};
  std::optional<std::uint64_t> budget_bytes{}; ///< from now on; nothing: none, or not known of a refused change
  std::optional<std::int64_t> applies_from_step{};
  std::optional<std::int64_t> command{}; ///< number of the command that asked for it
  std::optional<Reason> refused{};       ///< then nothing was changed
  Reason reason{};                       ///< why it was taken back

  bool operator==(const BudgetChange&) const = default;
};

/// The budget is not kept by all that the process does.
struct BudgetNotKept {
  Reason reason{};
  std::optional<std::uint64_t> limit_bytes{};
  std::optional<std::uint64_t> needed_bytes{};
  bool operator==(const BudgetNotKept&) const = default;
};

/// Memory between steps grows from step to step.
struct GrowingMemory {
  std::int64_t bytes_per_step = 0;
  std::int64_t since_step = 0;
  std::optional<std::int64_t> bytes{}; ///< since then
  bool operator==(const GrowingMemory&) const = default;
};

/// How the loss of a step that was split is put together, and how exactly that was verified.
struct SplitLoss {
  /// `examples`, `labels`, `shifted labels`, `weight`, `terms`, `sum`, `label weights`, or one of a later version.
  std::string mean_over{};
  std::optional<double> relative_error{}; ///< measured on pieces of the step
  std::optional<std::int64_t> pieces{};
  bool batch_norm = false; ///< its statistics are those of a piece
  bool random = false;     ///< random numbers of a piece differ from those of the whole
  bool operator==(const SplitLoss&) const = default;
};

/// The same micro batch is tried again, for a reason that has passed.
struct Retry {
  enum class After { libraries, garbage };
  std::optional<std::int64_t> attempted_batch{};
  After after = After::libraries; ///< what had the memory: libraries, for kernels and buffers, or cycles of references
  std::string text{};             ///< of a program's own; empty: that says it
  bool operator==(const Retry&) const = default;
};

} // namespace batchscope::telemetry
