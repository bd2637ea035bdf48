#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "core/program/trial/card_search.h"

namespace batchscope::program {

/// Memory of a program on a card after a change of it, tried by the client in the program itself.
struct CardSaving {
  std::string name;  ///< `checkpointing`, `mixed`, `adam8bit`; several with commas
  std::string title; ///< display name
  std::int64_t batch = 0;
  std::optional<std::uint64_t> peak_bytes; ///< at `batch`; nothing if that does not fit
  std::optional<std::int64_t> largest;     ///< about: from two sizes, with what the allocator leaves unused
  std::string why_not;                     ///< why it could not be tried; else empty
};

/// Tries the usual changes at the largest size of `found`, an answer of find_on_card(), or with one example if none
/// fits; then also all of them together. Those that save less than 2 % are left out: the program may have them already.
/// Two processes for each; `stop` ends it with what there is. `on_saving` is called for each when it is known.
void savings_on_card(const run::RunSpec& spec, const estimate::Target& card, const Surroundings& surroundings,
                     const search::SearchResult& found, const std::function<bool()>& stop,
                     const std::function<void(const CardSaving&)>& on_saving);

} // namespace batchscope::program
