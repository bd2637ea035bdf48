#pragma once

#include <functional>
#include <memory>
#include <optional>

#include "core/program/run/program_source.h"
#include "core/search/finder.h"
#include "core/search/throughput.h"

namespace batchscope::program {

/// Tries batch sizes by starting the user's own program once for each. A size fits when the program has reported
/// `probe_steps` steps, ran `probe_seconds` without an error, or came to a good end; it is then ended. One thread.
class ProcessTrial : public search::Trial {
public:
  /// Makes the program of a spec: open_program(), or a pretended one in tests.
  using Open = std::function<std::unique_ptr<ProgramRun>(const run::RunSpec&, const Surroundings&)>;

  /// `spec`: of a program; its batch is replaced. `stop` is called a few times a second while a program runs: true ends
  /// it, and run() then throws Error (failed, "stopped").
  ProcessTrial(const run::RunSpec& spec, const Surroundings& surroundings, std::function<bool()> stop,
               Open open = open_program);

  search::Probe run(const search::Proposal& proposal) override;
  /// The time of a step, without the setting of the memory allocator that trials have. Nothing if the size did not fit
  /// or the program reported fewer than two steps. Throws as run() does.
  std::optional<search::TimedSteps> time(std::int64_t batch);
  /// Whether the last time() saw steps, but all of them in too short a time.
  bool too_short() const { return too_short_; }

private:
  struct Result;
  Result start(std::int64_t batch, bool for_time) const;

  const run::RunSpec spec_;
  const Surroundings surroundings_;
  const std::function<bool()> stop_;
  const Open open_;
  bool too_short_ = false;
};

} // namespace batchscope::program
