#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "core/base/json.h"
#include "core/run/run_spec.h"
#include "core/run/run_start.h"
#include "core/store/run_reader.h"

namespace batchscope::advice {

/// Settings and results of a stored run, as far as they are known: complete for runs of this program, for imported runs
/// as far as their files have them. A plain value.
struct RunFacts {
  store::RunRow row;
  Json settings = Json::object();  ///< its spec
  std::string rest;                ///< the settings that do not follow the batch, see rest_of()
  std::optional<run::RunSpec> own; ///< of a run of this program
  run::RunStart start;             ///< defaults for an imported run
  Json declared = Json::object();  ///< what a program of the user's own is made with, as it said itself

  std::optional<std::int64_t> batch; ///< first nominal batch
  std::int64_t accumulate = 1;
  std::int64_t ranks = 1;                      ///< that share each step; batches are of one of them
  std::optional<std::int64_t> effective_batch; ///< nominal, of the first step, over all ranks
  std::optional<std::int64_t> last_effective;  ///< nominal, the largest one of the run
  std::optional<std::int64_t> micro_batch;     ///< the largest that was run
  std::optional<std::int64_t> reference_batch; ///< at which the learning rate is not scaled
  std::optional<double> learning_rate;         ///< at the reference batch
  std::optional<double> first_rate;            ///< scaled to the first effective batch, without warm-up
  bool rate_of_steps = false;                  ///< that is the highest one of the steps, and not what a setting says
  std::optional<std::int64_t> warmup_steps;
  std::optional<std::int64_t> train_examples;
  std::optional<double> epochs; ///< length of the training, planned or done
  std::string optimizer;        ///< as it was named; `adamw` for all of that kind, empty if unknown
  bool fine_tuning = false;
  bool batch_norm = false;
  std::string precision = "fp32";             ///< fp32, bf16 or fp16
  bool checkpointing = false;                 ///< of activations
  std::optional<double> ema;                  ///< decay of the averaged weights
  std::optional<double> ema_updates_per_step; ///< of the averaged weights
  std::optional<std::int64_t> largest_batch;  ///< answer of the search that chose the batch
};

/// Throws Error (input) for a run that does not exist.
RunFacts read_facts(const store::RunReader& reader, std::int64_t run);

/// All runs of a sweep that are there, in their order; throws Error (input) for a sweep that does not exist.
std::vector<RunFacts> read_sweep(const store::RunReader& reader, std::int64_t sweep);

/// The settings, and what a program declared, without those that may follow the size of a step (learning rate, warm-up,
/// regularization), without seed and name: equal for runs that can be compared by their batch.
std::string rest_of(const Json& settings, const Json& declared = Json::object());

} // namespace batchscope::advice
