#pragma once

#include <string>

#include "core/run/run_spec.h"

namespace batchscope::run {

/// Equal for two specs if a search gives the same answer for both: covers all that a trial of a batch size depends on,
/// the memory limit included.
std::string trial_key(const RunSpec& spec);

/// Equal for two specs if every batch size takes the same memory in both, whatever the limit.
std::string memory_key(const RunSpec& spec);

} // namespace batchscope::run
