#pragma once

#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>

#include "core/program/protocol/wire.h"
#include "core/program/run/program_source.h"
#include "core/program/trial/answer.h"
#include "core/search/finder.h"
#include "core/search/throughput.h"

namespace batchscope::program {

class LiveProgram;

/// Examples of a program's evaluation.
struct EvaluationExamples {
  std::int64_t count = 0;  ///< of the largest data set: no batch is larger
  std::int64_t unseen = 0; ///< of all data sets, those whose length was not looked at
};

/// Tries batch sizes in one process: a program that can split a step (level 3) runs a few steps of each size and lists
/// their allocations, and an out-of-memory error ends no process. What it learns meanwhile is thrown away. It is
/// started again if it ends, because it had trained enough or because an error ended it after all. One thread.
class LiveTrial final : public search::Trial {
public:
  ~LiveTrial() override;

  search::Probe run(const search::Proposal& proposal) override;
  /// The time of a step at a size known to fit, in a process without the budget and without what makes its memory
  /// exact and its steps slower; nothing if it did not fit after all, or the program ends before it is known.
  std::optional<search::TimedSteps> time(std::int64_t batch);
  /// Batches of the tried size that a step accumulates: as many as the spec says, or else the program.
  std::int64_t accumulate() const { return accumulate_; }
  /// Whether the program has an evaluation whose batches can be chosen.
  bool can_evaluate() const { return can_evaluate_; }
  /// Evaluates one example, which shows what the evaluation is over and what it has in use; to be called before
  /// evaluate().
  search::Probe begin_evaluations(std::int64_t batch);
  /// Tries a batch of the program's evaluation, after a step of `batch` examples, which is known to fit: what lives
  /// between two such steps is in memory, too.
  search::Probe evaluate(const search::Proposal& proposal, std::int64_t batch);
  /// Examples of the evaluation, as the last one has reported them.
  const EvaluationExamples& evaluation_examples() const { return evaluation_examples_; }
  /// Bytes that the spec's budget leaves for tensors. On the host, other memory of the program (threads, caches of
  /// libraries) counts for its limit, too. Nothing without a budget.
  std::optional<std::uint64_t> budget_bytes() const { return steps_.budget; }
  /// The same in an evaluation, once one was run.
  std::optional<std::uint64_t> evaluation_budget_bytes() const { return evaluations_.budget; }

private:
  friend struct OpenedTrial open_live_trial(const run::RunSpec&, const Surroundings&, std::function<bool()>);
  LiveTrial(const run::RunSpec& spec, const Surroundings& surroundings, std::function<bool()> stop);

  enum class Purpose { memory, time };
  bool start(Purpose purpose);
  bool ended_before_its_first_steps();
  void discard_first_trace();
  Answer probe(const ProbeSize& size);
  search::Probe probe_for(const search::Proposal& proposal, const Answer& answer, Listed& listed);
  Answer answer_to(const ProbeSize& size);
  bool ends_with_a_bad_tail(std::int64_t batch);
  std::optional<search::TimedSteps> time_once(std::int64_t batch);

  const run::RunSpec spec_;
  const Surroundings surroundings_;
  const std::function<bool()> stop_;
  std::unique_ptr<LiveProgram> program_;
  Purpose purpose_ = Purpose::memory; ///< of the program
  std::int64_t examples_ = 0;
  std::int64_t accumulate_ = 1;
  bool can_evaluate_ = false;
  std::int64_t least_steps_ = 1; ///< of a size
  EvaluationExamples evaluation_examples_;
  bool has_tails_ = false;                   ///< of an epoch, in a program with batch norm
  std::optional<std::string> why_no_single_; ///< a batch of one example fails; empty: it does not; nothing: not tried
  Listed steps_, evaluations_;
  std::map<std::int64_t, double> step_seconds_; ///< by size, of the last step that was timed
  /// It has failed, so its passes have the number of batches that its loader names, not as many as are wanted.
  bool own_passes_ = false;
  bool trains_briefly_ = false; ///< ends before it has made the steps of a long timing
  int starts_ = 0;
};

/// Result of starting a program for a trial.
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
