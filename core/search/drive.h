#pragma once

#include <functional>

#include "core/search/finder.h"

namespace batchscope::search {

/// Lets the finder propose until its search is over: runs each proposal, tells what came of it, passes each probe to
/// `on_probe`, and so each run that settles the safe size. Fills everything of the result but the recommended size, the
/// timings and the baseline. Throws what `trial` throws. One thread.
SearchResult drive(Finder& finder, Trial& trial, const FinderOptions& options,
                   const std::function<void(const Probe&)>& on_probe = {});

/// The largest size that was run and whose measured peak stays within (1 - margin) of the budget; where no memory is
/// known, that share of the largest size. Nothing where no size qualifies.
std::optional<std::int64_t> safe_size(const SearchResult& result, double margin);

/// The memory that probes foretell, up to the size `highest`: from the traces of the two largest that have one. Its
/// error is the largest relative one of what was foretold for sizes before they were run and fitted, else the share of
/// the traces that could not be matched. Nothing where fewer than two sizes have a trace, or the traces say nothing.
/// For use after any probe of a search that goes on. Takes a few milliseconds.
std::optional<predict::PeakCurve> curve_of(const std::vector<Probe>& probes, std::int64_t highest);

/// A search as JSON: what `find --json` prints and the store keeps, without the number under which it is stored.
std::string to_json(const SearchResult& result, int indent = -1);
/// The way back, without the traces, which are not stored; also of what earlier versions stored: what the text leaves
/// out keeps its default. Throws Error (input) for what is no such text.
SearchResult search_result_from_json(const std::string& text);
/// For people: "largest" where it is known to be, else "largest tried".
const char* name_of_largest(bool exact);

/// `fits`, `oom`, `error`.
const char* to_string(Outcome outcome);

} // namespace batchscope::search
