#include "app/cli/context.h"

#include "core/base/error.h"
#include "core/store/run_store.h"

namespace batchscope::cli {

std::filesystem::path Context::database() const {
  if (db && db->empty())
    throw input_error("--db: \"\" is not accepted; accepted: a file");
  return db ? std::filesystem::path(*db) : store::default_database();
}

void refuse_unusable(const std::filesystem::path& database) {
  store::check_usable(database);
}

} // namespace batchscope::cli
