#pragma once

#include <cstdint>
#include <optional>

#include "app/cli/context.h"
#include "app/cli/program_options.h"
#include "app/cli/run_options.h"
#include "core/estimate/cards.h"

namespace batchscope::cli {

/// The options of `estimate`.
struct EstimateOptions {
  RunOptions run;         ///< of a built-in model
  ProgramOptions program; ///< of a program of the user's own
  CLI::Option* shape = nullptr;
  CLI::Option* classes = nullptr;
  CLI::Option* vocabulary = nullptr;
  CLI::Option* batch = nullptr;
  // By formula:
  CLI::Option* config = nullptr;
  CLI::Option* parameters = nullptr;
  CLI::Option* layers = nullptr;
  CLI::Option* hidden = nullptr;
  CLI::Option* heads = nullptr;
  CLI::Option* sequence = nullptr;
  CLI::Option* precision = nullptr;
  CLI::Option* optimizer = nullptr;
  CLI::Option* attention = nullptr;
  CLI::Option* checkpointing = nullptr;
  CLI::Option* lora_rank = nullptr;
  CLI::Option* shards = nullptr;

  CLI::Option* target = nullptr;
  CLI::Option* verify = nullptr;
  CLI::Option* cards = nullptr;
};

namespace estimate_limits {
inline constexpr std::int64_t most = std::int64_t{1} << 40;
} // namespace estimate_limits

/// Memory that the answer has to fit into; nothing without --for.
std::optional<estimate::Target> target_of(const EstimateOptions& options);

/// Answers for the numbers of a transformer, or a config.json; returns the exit status.
int estimate_by_formula(const EstimateOptions& options, const Context& context);
/// Asks the program of the command line, see program::estimate_program(); returns the exit status.
int estimate_of_program(const EstimateOptions& options, const Context& context);

} // namespace batchscope::cli
