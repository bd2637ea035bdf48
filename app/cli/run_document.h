#pragma once

#include "core/base/json.h"
#include "core/store/run_reader.h"

namespace batchscope::cli {

/// A stored run without its points, as `show` and `watch` print it in JSON.
Json run_document(const store::RunReader& reader, const store::RunRow& run);

} // namespace batchscope::cli
