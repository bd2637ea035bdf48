#include "app/cli/context.h"

#include <system_error>

#include "core/base/error.h"
#include "core/store/run_reader.h"
#include "core/store/run_store.h"

namespace batchscope::cli {

std::filesystem::path Context::database() const {
  if (db && db->empty())
    throw input_error("--db: \"\" is not accepted; accepted: a file");
  return db ? std::filesystem::path(*db) : store::default_database();
}

store::RunStore stored_runs(const Context& context) {
  const auto file = context.database();
  std::error_code ignored;
  if (!std::filesystem::exists(file, ignored) || std::filesystem::is_empty(file, ignored))
    store::RunReader{file}; // throws, saying which
  return store::RunStore(file);
}

void refuse_unusable(const std::filesystem::path& database) {
  store::check_usable(database);
}

} // namespace batchscope::cli
