#pragma once

#include <cstdint>

#include "core/program/run/program_source.h"
#include "core/run/session.h"

namespace batchscope::program {

/// 80 % of the free memory, bytes: what a program that is tried may take of this machine.
std::uint64_t host_budget();

/// The spec of a search for the batch of a program, with the budget that it takes: of `cpu`, without one in the spec,
/// host_budget(), so that a size that does not fit fails in the program and not in the whole system. Throws
/// Error (input) for what can be refused before the program starts: no way for a batch size to the program, and all
/// that check() and check_command() refuse.
run::RunSpec search_spec(const run::RunSpec& spec);

/// Searches for the batch size of a program; `spec` is one of search_spec(). A program that can split its steps tries
/// all sizes in one process; else each size is a process of its own, which is ended once it has shown that the size
/// fits. What it has trained is thrown away. Throws Error: failed ("stopped") if `options.stop` returns true; input if
/// the program cannot be started. One thread.
search::SearchResult find_batch(const run::RunSpec& spec, const Surroundings& surroundings,
                                const run::Session::SearchOptions& options, const run::Session::ProbeSink& on_probe);

} // namespace batchscope::program
