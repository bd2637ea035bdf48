#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "core/pretended_gpu/rig.h"

namespace batchscope::estimate {

/// A GPU, a row of resources/cards/cards.csv.
struct Card {
  std::string name; ///< `rtx-4090`, `h100-80gb`
  std::uint64_t memory_bytes = 0;
  double bandwidth = 0; ///< bytes per second
  int year = 0;         ///< of its introduction
  int capability = 0;   ///< compute capability: 10 * major + minor
  int multiprocessors = 0;
  std::string source; ///< where these figures are from
};

/// All cards, read once. Throws Error (failed) if the file is missing or damaged.
const std::vector<Card>& cards();

/// Memory to fit into: a number with a unit (`24GB`), or a card's name.
struct Target {
  std::string name;               ///< of the card; empty for a size
  std::uint64_t memory_bytes = 0; ///< of the card, or the size
  /// Memory of a GPU that tensors cannot use: the CUDA context, code of the libraries, and the driver's own.
  std::uint64_t overhead_bytes = 0;
  int capability = 0, multiprocessors = 0; ///< of a card

  std::uint64_t usable_bytes() const { return memory_bytes - overhead_bytes; }
};

/// The memory of a card as its maker calls it, in GiB: `24 GB`.
std::string card_memory_text(std::uint64_t bytes);
/// Memory of the target that tensors can use: `22.9 GiB (24.6 GB)`.
std::string usable_text(const Target& target);

/// One that is pretended in the place of a card, with all of its memory.
pretended_gpu::Gpu pretended(const Target& card);
/// Compute capability, 10 * major + minor, from which on torch's builds for CUDA 13 have kernels.
inline constexpr int oldest_pretended = 75;

/// A use of a card's memory that a computed answer does not include.
struct NotIncluded {
  std::string what;
  std::uint64_t left_bytes = 0; ///< of the card that are not used, to make room for it; 0: none
};
/// All such uses of a card; their bytes add up to its overhead_bytes.
std::vector<NotIncluded> not_included(const Target& card);
/// The same as a text: `the CUDA context, libraries and kernels (700.0 MB left for them); …`.
std::string not_included_text(const Target& card);

/// Throws Error (input) for a text that is neither, naming the cards whose names are nearest.
Target parse_target(const std::string& text, const std::string& option);

} // namespace batchscope::estimate
