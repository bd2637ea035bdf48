#pragma once

#include <memory>

#include "core/search/finder.h"

namespace batchscope::search {

/// One function per strategy; make_finder() checks the options and selects one by name. A start above max_batch is
/// lowered to it; if the next size would be above max_batch, max_batch is tried instead. A probe with Outcome::error
/// ends every search.

/// From the start (default 128), floor(b/2) after each size that does not fit, until one fits.
std::unique_ptr<Finder> make_halving(const FinderOptions& options);
/// From the start (default 128), floor(b*factor) after each size that does not fit, until one fits.
std::unique_ptr<Finder> make_shrink(const FinderOptions& options);
/// From the start (default 8), doubles until a size does not fit, then tries 1.5 times the last one that fitted.
std::unique_ptr<Finder> make_doubling(const FinderOptions& options);
/// From the start (default 2), doubles until a size does not fit.
std::unique_ptr<Finder> make_power(const FinderOptions& options);
/// From the start (default 2), doubles until a size does not fit, then bisects to the exact largest.
std::unique_ptr<Finder> make_binary(const FinderOptions& options);
/// Two small probes, a prediction and a run that confirms it; exact.
std::unique_ptr<Finder> make_predictive(const FinderOptions& options);

} // namespace batchscope::search
