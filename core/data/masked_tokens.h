#pragma once

#include <cstdint>
#include <memory>

#include "core/data/dataset.h"

namespace batchscope::data {

/// Text for a model that learns to fill masked tokens in (Devlin et al. 2018): of each example, 15 % of the tokens, at
/// least one, are to be predicted. Of these 80 % are replaced by `mask_token`, 10 % by any token of the vocabulary, and
/// 10 % stay. Which ones follows from the seed and the example, so it is the same in every epoch, for every batch size
/// and after a resumption. `text` has Target::next_token.
std::shared_ptr<const Dataset> with_masked_tokens(std::shared_ptr<const Dataset> text, std::int64_t mask_token,
                                                  std::uint64_t seed);

} // namespace batchscope::data
