#include <fmt/format.h>

#include "core/base/error.h"
#include "core/store/care/care.h"
#include "core/store/detail/connection.h"
#include "core/store/file/detail/database.h"
#include "core/store/file/detail/database_copy.h"
#include "core/store/file/detail/database_files.h"

namespace batchscope::store {

namespace fs = std::filesystem;

namespace {

/// Before anything is written.
void check_target(const fs::path& file, const fs::path& target, bool force) {
  if (target.empty())
    throw input_error("the backup: the path is empty; give a file such as runs-backup.db");
  if (fs::is_directory(target))
    throw input_error(fmt::format("{}: is a folder; give a file in it", target.string()));
  const bool exists = fs::exists(fs::symlink_status(target));
  if (exists && detail::identity_of(target) == detail::identity_of(file))
    throw input_error(fmt::format("{}: is the database itself; give another file", target.string()));
  if (exists && !force)
    throw input_error(fmt::format("{}: already exists; --force overwrites it", target.string()));
  if (fs::exists(detail::log_of(target))) // which would be taken for the copy's
    throw input_error(fmt::format("{}: is in use as a database ({} exists); give another file", target.string(),
                                  detail::log_of(target).string()));
}

} // namespace

void back_up(const fs::path& file, const fs::path& target, bool force) {
  detail::Connection connection(file, detail::Connection::Access::read, [&] { return detail::open_for_reading(file); });
  const auto use = connection.use();
  detail::guarded(target, [&] {
    check_target(file, target, force);
    use->exec("PRAGMA query_only = OFF"); // which would refuse to write a copy, too
    try {
      detail::copy_database(*use, target);
    } catch (const SQLite::Exception& exception) {
      if (detail::is_damage(exception))
        throw detail::translated(exception, file); // of the database, not of its copy
      throw;
    }
  });
}

} // namespace batchscope::store
