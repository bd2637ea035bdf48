#pragma once

#include <memory>

#include "core/search/finder.h"

namespace batchscope::search {

/// Makers of the single strategies; make_finder checks the options and picks one by name.
/// A start above max_batch is lowered to it, and where the next size would be above it, max_batch is tried instead.
/// A probe with Outcome::error ends every search.

/// From the start (default 128), floor(b/2) after each refusal, until one fits.
std::unique_ptr<Finder> make_halving(const FinderOptions& options);
/// From the start (default 128), floor(b*factor) after each refusal, until one fits.
std::unique_ptr<Finder> make_shrink(const FinderOptions& options);
/// From the start (default 8), doubles until one is refused, then tries one and a half times the last that fitted.
std::unique_ptr<Finder> make_doubling(const FinderOptions& options);
/// From the start (default 2), doubles until one is refused.
std::unique_ptr<Finder> make_power(const FinderOptions& options);
/// From the start (default 2), doubles until one is refused, then bisects to the exact largest.
std::unique_ptr<Finder> make_binary(const FinderOptions& options);
/// Two small probes, a prediction, and a run that confirms it; exact.
std::unique_ptr<Finder> make_predictive(const FinderOptions& options);

} // namespace batchscope::search
