#pragma once

#include <cstdint>
#include <functional>
#include <vector>

#include "core/estimate/cards.h"
#include "core/program/run/program_source.h"
#include "core/run/session.h"

namespace batchscope::program {

/// How the numbers of such a search are computed, for display.
inline constexpr const char* how_on_card = "torch's own allocator, kernels not run, torch.compile off";

/// The spec of find_on_card(), from that of a program: its device is the card, and it is attached to. Throws Error
/// (input) as search_spec() does, and for a memory size in the place of a card, or a card that is too old for LibTorch.
run::RunSpec card_spec(const run::RunSpec& spec, const estimate::Target& card);

struct TriedOnCard {
  std::vector<search::Probe> probes;    ///< with traces
  std::optional<std::int64_t> examples; ///< of an epoch, if the program says it: no batch is larger
};
/// Tries these sizes of a program on a card that need not be here, as find_on_card() does.
TriedOnCard try_on_card(const run::RunSpec& spec, const estimate::Target& card, const Surroundings& surroundings,
                        const std::vector<std::int64_t>& batches, const std::function<bool()>& stop);

/// Searches for the batch size of a program on a card that need not be here: it runs on a pretended one
/// (core/pretended_gpu), for some steps of each size, in a process for each. Memory and out-of-memory errors are those
/// of torch's allocator on the card but for what kernels ask of libraries; no time means anything, so nothing is
/// recommended. torch.compile() is switched off. A program that takes more than 80 % of the memory that is free on this
/// machine is ended. `spec`: one of card_spec(). Throws Error: unavailable if no GPU can be pretended here; failed for
/// a program that trains on the CPU; else as find_batch(). One thread.
search::SearchResult find_on_card(const run::RunSpec& spec, const estimate::Target& card,
                                  const Surroundings& surroundings, run::Session::SearchOptions options,
                                  const run::Session::ProbeSink& on_probe);

} // namespace batchscope::program
