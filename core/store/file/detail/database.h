#pragma once

#include <chrono>
#include <filesystem>
#include <string>
#include <utility>

#include <SQLiteCpp/SQLiteCpp.h>

#include "core/base/error.h"
#include "core/store/run_store.h"

namespace batchscope::store::detail {

/// Converts a SQLite exception to an Error: one line for the user that names the file and what to do.
Error translated(const SQLite::Exception& exception, const std::filesystem::path& file);

/// Whether a later attempt may succeed: a lock is released, or a disk has room again.
bool is_transient(const SQLite::Exception& exception);

/// Whether the file is not what SQLite wrote.
bool is_damage(const SQLite::Exception& exception);

/// Calls `work`; converts exceptions of SQLite and the file system to Error, TransientError or DamageError.
template <typename Work> auto guarded(const std::filesystem::path& file, Work&& work) -> decltype(work()) {
  try {
    return work();
  } catch (const SQLite::Exception& exception) {
    const Error error = translated(exception, file);
    if (is_transient(exception))
      throw TransientError(error.kind(), error.what());
    if (is_damage(exception))
      throw DamageError(error.kind(), error.what());
    throw error;
  } catch (const std::filesystem::filesystem_error& error) {
    throw input_error(file.string() + ": " + error.code().message());
  }
}

/// Opens the file for writing and creates it, with its folder, if missing. Upgrades it to the current format. Uses WAL
/// mode if the file system supports it, else a rollback journal. `vfs` is SQLite's VFS; empty: the default.
SQLite::Database open_for_writing(const std::filesystem::path& file,
                                  std::chrono::milliseconds patience = std::chrono::milliseconds(5000),
                                  const std::string& vfs = {});

/// Does not create a database. A file in a folder that is not writable is read as it is. Throws Error; its texts say
/// why a file is rejected.
SQLite::Database open_for_reading(const std::filesystem::path& file);

/// The same for a file of any format up to this program's.
SQLite::Database open_of_any_format(const std::filesystem::path& file);

// See run_store.h.
void check_usable(const std::filesystem::path& file);
std::string why_read_only(const std::filesystem::path& file);

/// Durability of a transaction: metrics may be lost in a power failure, status and edits are on the disk once
/// committed. Without a WAL only `status` protects the file from damage by a power failure.
enum class Durability { metrics, status };
void set_durability(SQLite::Database& database, Durability durability);

} // namespace batchscope::store::detail
