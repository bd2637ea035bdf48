#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <vector>

#include "core/program/run/program_source.h"
#include "core/program/trial/answer.h"
#include "core/search/finder.h"
#include "core/search/throughput.h"

namespace batchscope::program {

class LiveProgram;

/// Tries batch sizes that reach the program by its command, in a process for each: it makes a few steps within the
/// budget, lists the allocations of one, is timed without the budget, and is ended. So a search needs few sizes, and
/// its program need not have a loader. What it has trained is thrown away. One thread.
class CommandTrial final : public search::Trial {
public:
  ~CommandTrial() override;

  search::Probe run(const search::Proposal& proposal) override;
  /// Timings of the sizes that were run, as far as they are known without another process.
  std::vector<search::Timing> timings() const { return search::timings_of(stretches_); }
  /// Bytes that the spec's budget leaves for tensors, see LiveTrial::budget_bytes(); nothing if the first size does not
  /// fit.
  std::optional<std::uint64_t> budget_bytes() const { return listed_.budget; }
  /// Examples of an epoch, if the program reports them: no batch is larger.
  std::optional<std::int64_t> examples() const { return examples_; }

private:
  friend std::unique_ptr<CommandTrial> open_command_trial(const run::RunSpec&, const Surroundings&,
                                                          std::function<bool()>, std::int64_t, bool);
  CommandTrial(const run::RunSpec& spec, const Surroundings& surroundings, std::function<bool()> stop, bool timings);

  bool begin(std::int64_t batch);
  Answer list();
  Answer try_size(std::int64_t batch);
  Answer ended() const;
  void time(const Answer& listed, std::int64_t batch);

  const run::RunSpec spec_;
  const Surroundings surroundings_;
  const std::function<bool()> stop_;
  const std::size_t most_stretches_; ///< of a size
  std::unique_ptr<LiveProgram> program_;
  bool own_passes_ = false; ///< its loaders end where their data end, also while a size is tried
  bool tried_own_passes_ = false;
  std::int64_t batch_ = 0;      ///< that it has
  std::optional<Answer> first_; ///< of the size that it was opened with, until that is run
  std::optional<std::int64_t> examples_;
  Listed listed_;
  std::map<std::int64_t, std::vector<search::TimedSteps>> stretches_; ///< by size
};

/// Starts the program with the size `first`, which is to be the first that is run, and lists a step. Null if it lists
/// none (it is not attached to, or ended, or made no step in its `probe_seconds`, or only printed some): its sizes can
/// be tried from outside only. `spec`: of a program that has the size in its command, with the budget of the search.
/// Without `timings` no size is timed. Throws Error: input for a program that cannot be
/// started; failed, "stopped", if `stop` returns true, and on a pretended GPU in the place of null.
std::unique_ptr<CommandTrial> open_command_trial(const run::RunSpec& spec, const Surroundings& surroundings,
                                                 std::function<bool()> stop, std::int64_t first, bool timings = true);

} // namespace batchscope::program
