#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "core/advice/rescale.h"
#include "core/run/run_spec.h"

namespace batchscope::advice {

/// A training task to advise on: a row of resources/advice/tasks.tsv.
struct Task {
  std::string key;     ///< value of --task: `instruction-tuning`
  std::string title;   ///< for a form: `Instruction tuning`
  std::string options; ///< of `train`, that this task asks for
};

/// All tasks, read once. Throws Error (failed) if the table is missing or damaged, as do the functions below.
const std::vector<Task>& tasks();

/// The three questions: what for, which model, how much memory. What is not set is not known.
struct Question {
  std::string task = "scratch";
  std::optional<double> parameters; ///< of the model
  std::string quantization;         ///< of the weights: 4bit or 16bit; empty: any
  std::optional<double> memory_bytes;
  std::optional<std::int64_t> examples; ///< to train on; limits the effective batch
  std::string model, data;              ///< of the commands, as RunSpec has them; empty: its defaults
};

/// `7B`, `110M` or `7e9`; throws Error (input) naming `option`.
double parse_parameters(const std::string& text, const std::string& option);
/// `7B`, `110M`.
std::string parameters_text(double parameters);

/// An inclusive range of sizes.
struct Range {
  std::int64_t low = 1;
  std::int64_t high = 1;

  std::string text() const; ///< `4-8`, or `16`
  bool operator==(const Range&) const = default;
};

/// Recommendation of one source: a row of resources/advice/sizes.tsv.
struct SizeRow {
  std::optional<Range> micro_batch, accumulate, effective_batch;
  std::optional<std::int64_t> ranks;
  std::optional<std::int64_t> least, most; ///< bounds of a useful effective batch
  std::string quantization;                ///< 4bit, 16bit, or empty
  std::string why;
  std::string source;
  bool certain = true; ///< false: the row is about a memory, model or precision that the question leaves open
  std::optional<StepSizes> start;   ///< what to start with by this row
  std::optional<run::RunSpec> spec; ///< a run that starts so; nothing for several ranks, which this program plans only
  std::string command;              ///< the same for a shell; empty if the row has no sizes
};

/// All that applies to a question.
struct Advice {
  std::vector<SizeRow> rows;        ///< the most special ones first
  std::optional<StepSizes> start;   ///< by the rows together
  std::optional<run::RunSpec> spec; ///< a run that starts so, unless it needs several ranks
  std::string train_command;        ///< `batchscope-cli train ...`, or `plan` for several ranks; empty without rows
  std::string find_command;         ///< what really fits, for the model of the question
  std::vector<std::string> disagreements; ///< of the sources, a sentence each
  std::vector<std::string> remarks;       ///< memory left for batches, limits by the data
};

/// Throws Error (input) for an unknown task or quantization and for a model or data text that no run accepts.
Advice advise(const Question& question);

} // namespace batchscope::advice
