#pragma once

#include <array>
#include <cstdint>
#include <filesystem>
#include <string>

#include "app/cli/output.h"
#include "core/run/run_spec.h"
#include "core/run/run_start.h"
#include "core/store/run_row.h"
#include "core/telemetry/events.h"
#include "core/telemetry/trace.h"

namespace batchscope::cli {

/// An event of a run: `step 7: out of memory with a micro batch of 96: ...`.
std::string event_line(const telemetry::Event& event, const Palette& palette);

/// `[#####.....]`, filled to `fraction` (0..1).
std::string bar(double fraction, int width);

/// The command of a run of a program of the user's own, with what its placeholders stood for; as it is stored if they
/// cannot be filled.
std::string command_shown(const run::RunSpec& spec, const run::RunStart& start, std::int64_t run,
                          const std::filesystem::path& out);

/// Rounds `epoch` and `train_coverage` of an outcome in JSON to five decimals, for display.
void round_passes(Json& outcome);
/// The outcome of a run, as `train` and `show` print it in JSON.
Json summary_json(const telemetry::RunOutcome& outcome);
/// The same as text, with the reason why a search chose the first batch, if known.
std::string summary_text(const telemetry::RunOutcome& outcome, const std::string& batch_reason = {});

/// Memory by use, in bytes; uses without a byte are left out.
Json by_use_json(const std::array<std::uint64_t, telemetry::use_count>& by);
/// A search as text, from its JSON (see search::to_json()): probes, timings and the three answers.
std::string search_text(const Json& search, const Palette& palette);

/// The table of runs that `list`, `sweep` and `demo` print.
std::string runs_table(const std::vector<store::RunRow>& runs, const Palette& palette);

} // namespace batchscope::cli
