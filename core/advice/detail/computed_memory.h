#pragma once

#include <string>

#include "core/advice/advice.h"

namespace batchscope::advice::detail {

/// How many examples fit the question's memory by formula and by the rule of thumb, for a published language model of
/// about its size; a sentence. Empty without a size, a memory or such a model.
std::string computed_memory(const Question& question);

} // namespace batchscope::advice::detail
