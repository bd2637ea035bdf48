#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "core/data/dataset.h"
#include "core/predict/peak_curve.h"
#include "core/schedule/batch_schedule.h"

namespace batchscope::run {

/// Properties that a training program reports of itself. Known once the program has connected; more of them may follow.
struct ProgramStart {
  /// Level of the program: 0 only its output is known, 1 it reports, 2 its batch size can be changed, 3 it also splits
  /// a step that runs out of memory.
  int level = 0;
  bool first_batch = false;             ///< its batch size can be set before it begins
  std::string name;                     ///< that it gives the run; empty if it gives none
  std::string framework, torch, device; ///< `transformers 5.23.0`, `2.11.0`, `cuda:0`; empty: not known
  std::string output;                   ///< file of its output
  schedule::RunLength length;           ///< at most one is set; none: not known
  std::int64_t ranks = 1;               ///< processes that share each step; batches are of one of them
  bool drop_last = false;
  std::string settings = "{}"; ///< JSON object: what the training is made with; texts, numbers and truth values by name

  bool operator==(const ProgramStart&) const = default;
};

/// Properties of a run that are known before its first step.
struct RunStart {
  std::int64_t batch = 0;   ///< first nominal batch
  std::string batch_reason; ///< why a search chose it, one sentence; empty if the batch was given
  std::int64_t accumulate = 1;
  std::int64_t train_examples = 0;
  std::vector<data::Stream> streams; ///< with their training examples; empty for one source
  std::int64_t validation_examples = 0;
  std::int64_t parameters = 0;   ///< trainable
  bool predicts_numbers = false; ///< the loss is the mean squared error; else cross entropy, or what a program has
  std::uint64_t budget_bytes = 0;
  std::uint64_t baseline_bytes = 0;
  std::int64_t warmup_steps = 0;
  std::optional<double> learning_rate;        ///< at the reference batch size
  std::optional<std::int64_t> expected_steps; ///< if the plan's length is known
  std::string card;               ///< which of several GPUs its device is, for CUDA; empty: not said, see card_of()
  std::vector<std::string> notes; ///< notes for the user before the run starts (batch norm, automatic warm-up)
  std::optional<predict::PeakCurve> memory; ///< predicted before the run, if it was
  std::optional<std::int64_t> search;       ///< number of the search in the database that chose the batch
  std::optional<ProgramStart> program;      ///< of a run of the user's own program
  /// Fields of a stored start that only a later version knows, a JSON object that is written back; empty: none.
  std::string later_json{};
};

data::ExampleCounts example_counts(const RunStart& start);

/// The one-line JSON that the store keeps.
std::string to_json(const RunStart& start);
/// The inverse; also reads what earlier and later versions wrote: missing fields keep their defaults, those that are
/// not known are kept in later_json. Throws Error (input) for an invalid text.
RunStart run_start_from_json(const std::string& text);
/// The start of a stored run; defaults if the text is not one of this program.
RunStart stored_start(const std::string& text);

} // namespace batchscope::run
