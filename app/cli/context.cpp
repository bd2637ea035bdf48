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
  std::error_code problem;
  const auto size = std::filesystem::file_size(database, problem);
  // What is not there or empty is made later; a directory is refused here.
  if (std::filesystem::is_directory(database, problem) || (!problem && size > 0))
    const store::RunReader reader(database);
}

} // namespace batchscope::cli
