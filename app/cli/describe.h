#pragma once

#include <cstdint>
#include <string>

#include "app/cli/output.h"
#include "core/store/run_store.h"

namespace batchscope::cli {

/// An event of a run in words, without its step: `out of memory at batch 96: ...`.
std::string describe_event(const std::string& kind, const std::string& detail_json);
/// How an event is coloured.
Colour colour_of_event(const std::string& kind);

/// `[#####.....]`, filled to a share of 0..1.
std::string bar(double share, int width);

/// What became of a run, as `train` and `show` give it in JSON.
Json summary_json(const store::RunOutcome& outcome);
/// The same for people, with why a search chose the first batch where that is known.
std::string summary_text(const store::RunOutcome& outcome, const std::string& batch_reason = {});

/// A search for people, from its JSON (see search::to_json): its probes, its timings, the three answers.
std::string search_text(const Json& search, const Palette& palette);

/// The table of runs that `list`, `sweep` and `demo` print.
std::string runs_table(const std::vector<store::RunRow>& runs, const Palette& palette);

} // namespace batchscope::cli
