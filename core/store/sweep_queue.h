#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "core/store/run_store.h"

namespace batchscope::store {

/// A run that waits to be made.
struct WaitingRun {
  std::int64_t id = 0; ///< set by the queue, see add()
  std::string name;
  std::string spec_json;
  /// Equal for runs with the same settings (sweep::settings_key()), also in other versions; empty: not known, and the
  /// spec stands for it.
  std::string settings_key{};
};

/// The runs of a sweep that wait in the database, for any number of programs that work at the sweep. A run that waits
/// is `queued` and has no process; one that was claimed has the process that claimed it, and returns to the queue if
/// that ends before it begins the run. Errors as in RunStore. Any thread.
class SweepQueue {
public:
  /// The sweep must exist in the store's database.
  SweepQueue(RunStore& store, std::int64_t sweep) : store_(store), sweep_(sweep) {}

  /// The key of a stored spec; nothing if it cannot be read.
  using KeyOf = std::function<std::optional<std::string>(const std::string& spec_json)>;
  /// Gives a key to the runs that have none: those that an earlier version has stored. Call it before add(), claim()
  /// and begun().
  void add_missing_keys(const KeyOf& key_of);

  /// Appends runs, in one transaction; returns how many. Leaves out those whose key a run of the sweep has that waits,
  /// trains, or has ended otherwise than by an interruption or a stop without a reason.
  std::int64_t add(const std::vector<WaitingRun>& runs);

  /// Current load of the sweep by the programs that work at it.
  struct Load {
    std::int64_t open = 0;            ///< claimed or running
    std::uint64_t reserved_bytes = 0; ///< by those
  };
  /// Memory to reserve for a run; nothing to leave it to others or to later. Called on the store's thread within a
  /// transaction: must return at once and not call the store.
  using Choose = std::function<std::optional<std::uint64_t>(const WaitingRun&, const Load&)>;
  struct Claim {
    std::optional<WaitingRun> run; ///< nothing if no run waits, or `choose` took none
    std::int64_t waiting = 0;      ///< besides this one
    std::int64_t open = 0;         ///< of others
  };
  /// Takes the first waiting run that `choose` accepts. RunStore::begin() with NewRun::claimed begins it. Before, runs
  /// whose process is gone are marked `interrupted`, and those of which no other attempt waits, runs or has ended
  /// otherwise are added again, at their place, at most `max_attempts` times in all.
  Claim claim(const Choose& choose);
  /// Number and key of all runs of the sweep that do not wait any more, in the order of their numbers.
  std::vector<std::pair<std::int64_t, std::string>> begun();
  /// Returns a claimed run that has not begun to the queue.
  void release(std::int64_t run);

  /// Ends waiting runs without making them: they become `stopped`, with this reason. Runs that no longer wait are left
  /// alone; returns how many were ended.
  std::int64_t skip(const std::vector<std::int64_t>& runs, const std::string& reason);
  /// Moves a waiting run directly before another one, or to the end without one; nothing if it no longer waits.
  void move(std::int64_t run, std::optional<std::int64_t> before);

  /// Removes all waiting runs, unless another program works at the sweep: of a sweep that was stopped, its spec says
  /// what is missing.
  void withdraw();

  static constexpr std::int64_t max_attempts = 5;

private:
  RunStore& store_;
  const std::int64_t sweep_;
};

} // namespace batchscope::store
