#pragma once

#include <chrono>
#include <filesystem>
#include <string>
#include <utility>

#include <SQLiteCpp/SQLiteCpp.h>

#include "core/base/error.h"
#include "core/store/run_store.h"

namespace batchscope::store::detail {

/// What SQLite says as one line for a person, naming the file and what to do.
Error translated(const SQLite::Exception& exception, const std::filesystem::path& file);

/// Whether what SQLite refused may be granted later: a lock passes, and a disk gets room again.
bool may_pass(const SQLite::Exception& exception);

/// Calls `work`; SQLite's exceptions, and those of the file system, leave as Error, or TransientError.
template <typename Work> auto guarded(const std::filesystem::path& file, Work&& work) -> decltype(work()) {
  try {
    return work();
  } catch (const SQLite::Exception& exception) {
    const Error error = translated(exception, file);
    if (may_pass(exception))
      throw TransientError(error.kind(), error.what());
    throw error;
  } catch (const std::filesystem::filesystem_error& error) {
    throw input_error(file.string() + ": " + error.code().message());
  }
}

/// The file, made with its folder where missing, at the present format, in WAL mode where the file system has what that
/// takes, else with a rollback journal. `vfs` names SQLite's file layer; empty: the default.
SQLite::Database open_for_writing(const std::filesystem::path& file, std::chrono::milliseconds patience,
                                  const std::string& vfs = {});

/// Makes no database. A file in a folder that cannot be written is read as it is; see Error texts for what is refused.
SQLite::Database open_for_reading(const std::filesystem::path& file);

// See run_store.h.
void check_usable(const std::filesystem::path& file);
std::string why_read_only(const std::filesystem::path& file);

/// How far a transaction goes: metrics are on their way to the disk, status and edits are on it. Without a WAL only the
/// second is safe against damage when the power fails.
enum class Durability { metrics, status };
void set_durability(SQLite::Database& database, Durability durability);

} // namespace batchscope::store::detail
