#pragma once

#include <functional>

#include "core/search/finder.h"

namespace batchscope::search {

/// Runs a search: calls `trial` for each proposal of the finder and passes the result to the finder and to `on_probe`,
/// then does the same with the runs that determine the safe size. Fills the whole result but the recommended size, the
/// timings and the baseline. Throws what `trial` throws, unless `stop` says that the user has stopped the search: then
/// the result is `interrupted`. One thread.
SearchResult run_search(Finder& finder, Trial& trial, const FinderOptions& options,
                        const std::function<void(const Probe&)>& on_probe = {}, const std::function<bool()>& stop = {});

/// The largest size that ran with a measured peak of at most (1 - margin) of the budget; if memory is unknown, (1 -
/// margin) of the largest size. Nothing if no size qualifies.
std::optional<std::int64_t> safe_size(const SearchResult& result, double margin);

/// The memory curve up to the size `highest`, from the traces of the two largest probes that have one. Its error is the
/// largest relative error of the predictions for sizes that then ran and fitted, else the fraction of the traces
/// without a counterpart. Nothing if fewer than two probes have a trace, or the traces do not match. May be called
/// after any probe of a running search. Takes a few milliseconds.
std::optional<predict::PeakCurve> curve_of(const std::vector<Probe>& probes, std::int64_t highest);
/// The curve of a known model, with the error that the probes show.
predict::PeakCurve curve_of(const predict::MemoryModel& model, const std::vector<Probe>& probes, std::int64_t highest);

/// A search as JSON: printed by `find --json` and kept by the store; without its number in the database.
std::string to_json(const SearchResult& result, int indent = -1);
/// The inverse, without the traces, which are not stored. Also reads earlier versions: missing fields keep their
/// defaults. Throws Error (input) for an invalid text.
SearchResult search_result_from_json(const std::string& text);
/// For display: "largest" if no larger size fits, else "largest tried".
const char* name_of_largest(bool exact);

/// `fits`, `oom`, `error`.
const char* to_string(Outcome outcome);

} // namespace batchscope::search
