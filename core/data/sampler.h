#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "core/data/stream_mixer.h"

namespace batchscope::data {

/// The order of the examples in one epoch: a permutation of 0..N-1 drawn from a hash of (seed, epoch) and computed
/// element by element (a Feistel network with cycle walking), so that 3 billion examples need no table. It does not
/// depend on batch sizes. Immutable; any thread.
class EpochOrder {
public:
  EpochOrder(std::int64_t examples, std::uint64_t seed, std::int64_t epoch);

  /// Index of the example at a position, both 0..N-1.
  std::int64_t at(std::int64_t position) const;

private:
  std::uint64_t permute(std::uint64_t value) const;

  static constexpr int max_rounds = 24;
  std::int64_t examples_;
  int low_bits_;  ///< a number of ceil(log2 N) bits is split into two parts
  int high_bits_; ///< low_bits_ or one more
  int rounds_;    ///< even; each changes one part by a hash of the other
  std::uint64_t keys_[max_rounds];
};

struct SamplerOptions {
  std::int64_t examples = 0;   ///< N, at least 1
  std::int64_t ranks = 1;      ///< data-parallel size R, at least 1
  std::int64_t accumulate = 1; ///< k, at least 1; not used if effective_batch is set
  /// Effective batch B (1..N), met exactly with micro batches of at most b examples; k is then ceil(B / (b * R)). The
  /// sizes of the micro batches, of the ranks within each micro batch and of the ranks over the whole step differ by at
  /// most one example. Only the tail of an epoch makes a smaller step; drop_last skips that tail.
  std::optional<std::int64_t> effective_batch;
  bool drop_last = false;
  // Several streams mixed in every step; empty for one source. `examples` is then the sum of all, an epoch is a pass
  // over the stream `clock`, and the others start over whenever they are through, each with epochs of its own.
  std::vector<Stream> streams{};
  std::size_t clock = 0;
  std::vector<std::int64_t> shares{};   ///< of the first step, in parts of share_unit, to which they add up
  std::int64_t largest_clock_share = 0; ///< in any step
};

/// Examples of one stream in a step: `count` from a position of an epoch on. They may reach into the stream's next
/// epochs.
struct StreamTake {
  std::int64_t epoch_index = 0;   ///< 0-based, of the stream
  std::int64_t first = 0;         ///< position in that epoch's order
  std::int64_t count = 0;         ///< may be 0
  std::int64_t seen_in_epoch = 0; ///< after this step; all of them after the last one of an epoch
  std::int64_t seen_in_total = 0; ///< after this step
};

/// Number of examples that each rank takes in each micro batch of one optimizer step.
struct StepTakes {
  std::int64_t epoch_index = 0; ///< 0-based
  std::int64_t first = 0;       ///< position in the epoch's order of the first example of the step (of the clock)
  std::int64_t accumulate = 0;  ///< nominal accumulation steps
  std::int64_t ranks = 1;
  /// Row-major [micro batch][rank]: number of examples. Within a micro batch, rank r's examples follow rank r-1's in
  /// the epoch's order; each micro batch follows the one before.
  std::vector<std::int64_t> takes;
  std::int64_t examples = 0;       ///< sum of takes: the effective batch
  std::int64_t seen_in_epoch = 0;  ///< after this step (of the clock)
  std::int64_t seen_in_total = 0;  ///< after this step, over all epochs; tails dropped by drop_last are not counted
  std::int64_t seen_of_epochs = 0; ///< the same of what epochs are counted by: of the clock, else seen_in_total
  std::vector<StreamTake> streams; ///< in the order of the options; empty for one source
  /// Used for progress: seen_in_epoch, or N if too few examples are left for another step of this batch size. With
  /// drop_last the size of the next step decides: a smaller step may still take from the tail, a larger one may skip
  /// it.
  std::int64_t passed_in_epoch = 0;
};

/// Iterates over the epochs; the batch size may change before every step. Not thread-safe; cheap to copy.
class Sampler {
public:
  /// Throws Error (input) for options out of their ranges.
  explicit Sampler(const SamplerOptions& options);

  /// Takes the next optimizer step with nominal batch `batch` (1..N/R) and, if set, at most `limit` examples in total
  /// (for runs whose length is given in examples). Throws Error (input) for a batch out of range and for a step of more
  /// than 16,777,216 micro batches over all ranks.
  StepTakes next(std::int64_t batch, std::optional<std::int64_t> limit = std::nullopt);

  /// Whether the next step with this batch size begins a new epoch (true before the first).
  bool begins_epoch(std::int64_t batch) const;

  /// Shares of the streams in the steps that follow. Throws Error (input) unless there is one for each stream, they add
  /// up to share_unit, and the clock's is above 0.
  void set_shares(const std::vector<std::int64_t>& shares);

  /// Where it is; go_to() continues from there. Throws Error (input) for a position outside of an epoch.
  struct Position {
    std::int64_t epoch_index = 0;
    std::int64_t in_epoch = 0; ///< examples taken of the epoch
    std::int64_t seen_in_total = 0;
    std::vector<std::int64_t> streams{}; ///< examples seen of each stream
    std::vector<std::int64_t> carried{}; ///< see StreamMixer
  };
  Position position() const { return {epoch_index_, position_, seen_in_total_, seen_, mixer_.carried()}; }
  void go_to(const Position& position);

private:
  std::int64_t smallest_step(std::int64_t batch) const;
  std::int64_t left_after(std::int64_t position) const;
  void take_streams(StepTakes& step);

  SamplerOptions options_;
  std::int64_t epoch_size_; ///< examples of an epoch (of the clock)
  StreamMixer mixer_;
  std::vector<std::int64_t> seen_; ///< of each stream
  std::int64_t epoch_index_ = 0;
  std::int64_t position_ = 0; ///< in the epoch
  std::int64_t seen_in_total_ = 0;
};

/// N / R: the largest batch per rank. At least 1 if N >= R.
std::int64_t largest_batch(std::int64_t examples, std::int64_t ranks);
/// The same for several streams: no step takes more than all examples, or more of the clock than there are.
std::int64_t largest_batch(const SamplerOptions& options);

/// N of the epochs that a run counts: the examples of the clock, or of the one source.
std::int64_t epoch_size(const SamplerOptions& options);
/// The examples of all streams that the steps of an epoch take, with the shares of the first step.
std::int64_t examples_in_epoch(const SamplerOptions& options);

/// R = W / (tp*cp*sp); throws Error (input) naming the four numbers if the division is not exact.
std::int64_t data_parallel_size(std::int64_t world, std::int64_t tp, std::int64_t cp, std::int64_t sp);

} // namespace batchscope::data
