#pragma once

#include "core/base/json.h"
#include "core/store/run_store.h"

namespace batchscope::cli {

/// All of a stored run but its points, as `show` and `watch` give it in JSON.
Json run_document(const store::RunReader& reader, const store::RunRow& run);

} // namespace batchscope::cli
