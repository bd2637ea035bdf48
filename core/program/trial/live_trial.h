#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <set>
#include <string>

#include "core/program/protocol/wire.h"
#include "core/program/run/program_source.h"
#include "core/search/finder.h"
#include "core/search/throughput.h"

namespace batchscope::program {

class LiveProgram;

/// Tries batch sizes in one process: a program that can split a step (level 3) runs a few steps of each size and lists
/// their allocations, and an out-of-memory error ends no process. What it learns meanwhile is thrown away. It is
/// started again if it ends, because it had trained enough or because an error ended it after all. One thread.
class LiveTrial final : public search::Trial {
public:
  ~LiveTrial() override;

  search::Probe run(const search::Proposal& proposal) override;
  /// The time of a step at a size known to fit, in a process without the budget and without what makes its memory
  /// exact and its steps slower; nothing if it did not fit after all, or the program ends before it is known.
  std::optional<search::Stretch> time(std::int64_t batch);
  /// What the spec's budget leaves for tensors, bytes: on the host, what the program needs besides (threads, caches of
  /// libraries) counts for its limit, too. Nothing without a budget.
  std::optional<std::uint64_t> budget_bytes() const { return budget_; }

private:
  friend struct OpenedTrial open_live_trial(const run::RunSpec&, const Surroundings&, std::function<bool()>);
  LiveTrial(const run::RunSpec& spec, const Surroundings& surroundings, std::function<bool()> stop);

  enum class Purpose { memory, time };
  bool start(Purpose purpose);
  bool ended_before_its_first_steps();
  void discard_first_trace();
  struct Result;
  Result probe(std::int64_t batch, bool trace, std::int64_t steps);
  std::optional<std::uint64_t> tensor_peak(const Result& result);
  bool ends_with_a_bad_tail(std::int64_t batch);

  const run::RunSpec spec_;
  const Surroundings surroundings_;
  const std::function<bool()> stop_;
  std::unique_ptr<LiveProgram> program_;
  Purpose purpose_ = Purpose::memory; ///< of the program
  std::int64_t examples_ = 0;
  bool has_tails_ = false;                   ///< of an epoch, in a program with batch norm
  std::optional<std::string> why_no_single_; ///< a batch of one example fails; empty: it does not; nothing: not tried
  std::set<std::int64_t> traced_;            ///< sizes
  std::optional<std::uint64_t> budget_;
  std::uint64_t beside_tensors_ = 0; ///< of the process at its peak, when it was last listed
  int starts_ = 0;
};

/// What the start of a program has shown.
struct OpenedTrial {
  std::unique_ptr<LiveTrial> trial;     ///< null: every size needs a process of its own
  std::optional<std::int64_t> examples; ///< of an epoch, if the program says it: no batch is larger
};

/// Starts the program and waits for its first steps: one that can split steps (level 3) is tried live. `spec`: of a
/// program whose batch goes over the socket, with the budget of the search. Throws Error: input for a program that
/// takes no batch size (below level 2) or cannot be started; failed for one that fails, or makes no step in its
/// `probe_seconds`, and "stopped" if `stop` returns true.
OpenedTrial open_live_trial(const run::RunSpec& spec, const Surroundings& surroundings, std::function<bool()> stop);

} // namespace batchscope::program
