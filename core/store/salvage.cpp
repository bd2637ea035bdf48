#include "core/store/detail/salvage.h"

#include <fmt/format.h>

#include "core/store/file/detail/database.h"
#include "core/store/file/detail/database_copy.h"
#include "core/store/file/detail/sql.h"

namespace batchscope::store::detail {

namespace fs = std::filesystem;

std::string to_string(const MergedRuns& merged, const fs::path& file, const fs::path& saved) {
  std::string text = fmt::format("{}: its files were replaced by another program; ", file.string());
  const std::size_t written = merged.added.size() + merged.completed.size();
  text += written == 0 ? std::string("nothing was lost")
                       : fmt::format("{} run{} of the old files {} copied to the new ones, so nothing was lost",
                                     written, written == 1 ? "" : "s", written == 1 ? "was" : "were");
  for (const MergedRuns::Run& run : merged.added)
    if (run.before != run.now)
      text += fmt::format("; run {} is now run {}", run.before, run.now);
  if (merged.left > 0)
    text += fmt::format("; the new file is a different database; {} run{} of the old database {} saved to {}",
                        merged.left, merged.left == 1 ? "" : "s", merged.left == 1 ? "was" : "were", saved.string());
  return text;
}

fs::path save_view(SQLite::Database& old, const fs::path& file) {
  const fs::path saved = free_name(file.string() + ".saved");
  old.exec("PRAGMA query_only = OFF"); // for a reader, which is closed after this
  copy_database(old, saved);
  return saved;
}

MergedRuns write_view(const fs::path& saved, SQLite::Database& database) {
  execute(database, "ATTACH ? AS old", saved.string());
  set_durability(database, Durability::status);
  SQLite::Transaction transaction(database, SQLite::TransactionBehavior::IMMEDIATE);
  // A database without runs was just created because the old one is gone: it takes over its identity.
  if (database.execAndGet("SELECT count(*) FROM main.run").getInt64() == 0)
    database.exec("UPDATE main.identity SET uid = (SELECT uid FROM old.identity)");
  const bool same =
      database.execAndGet("SELECT main.identity.uid = old.identity.uid FROM main.identity, old.identity").getInt() == 1;
  MergedRuns merged = merge_runs(database, same ? MergeKind::everything : MergeKind::own_runs);
  transaction.commit();
  return merged;
}

} // namespace batchscope::store::detail
