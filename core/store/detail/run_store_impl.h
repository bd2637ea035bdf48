#pragma once

#include "core/store/detail/writer.h"
#include "core/store/run_store.h"

namespace batchscope::store {

class RunStore::Impl {
public:
  Impl(const std::filesystem::path& file, const StoreOptions& options) : writer(file, options) {}

  detail::Writer writer;
};

} // namespace batchscope::store
